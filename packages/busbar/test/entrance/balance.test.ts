/** What the native entrance gives to a worker: requests, or connections. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { describe, it } from 'node:test'
import { ask } from '../gateway/ask-instance.ts'
import { pollUntil, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { entrances } from './tls/secure-apps.ts'

const chat = `${import.meta.dirname}/../gateway/programs/chat.mjs`

describe('a connection that stays with a worker', { skip: entrances[1].skip }, () => {
  const start = async (balance: 'request' | 'connection'): Promise<TestApp> =>
    await TestApp.start({ services: { chat }, workers: 3, gateway: { entrance: 'native', balance } })
  const workersOf = async (app: TestApp): Promise<Set<string>> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const bodies = new Set<string>()
    for (let time = 0; time < 12; time++) bodies.add((await ask(app, '/none', { agent })).body)
    agent.destroy()
    return bodies
  }

  it('has all its requests there, and other connections have others', async () => {
    await using app = await start('connection')
    const workers = new Set<string>()
    for (let connection = 0; connection < 6; connection++) {
      const [worker, ...others] = await workersOf(app)
      assert.deepEqual(others, [])
      workers.add(worker!)
    }
    assert.ok(workers.size > 1)
  })

  it('goes to another worker with its next request when that one has died', async () => {
    await using app = await start('connection')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const before = await ask(app, '/none', { agent })
    assert.equal((await ask(app, '/exit', { agent, method: 'POST' })).status, 502)
    const after = await ask(app, '/none', { agent })
    assert.equal(after.status, 200)
    assert.notEqual(after.body, before.body)
    agent.destroy()
  })

  it('is not the default: each request goes to the worker with the fewest', async () => {
    await using app = await start('request')
    assert.ok((await workersOf(app)).size > 1)
  })
})

describe('a worker whose entry is unhealthy', { skip: entrances[1].skip }, () => {
  const file = `${import.meta.dirname}/../supervisor/programs/health.js`
  const health = { path: '/health', interval: 20, timeout: 5000, unhealthyAfter: 1, healthyAfter: 1 } as const
  const start = async (workers: number, env: Record<string, string>): Promise<TestApp> =>
    await TestApp.start({
      workers,
      services: { web: { file, env, health: { ...health, restartAfter: false } } },
      gateway: { entrance: 'native' },
    })
  const idOf = async (app: TestApp, path = '/'): Promise<number> => {
    const response = await fetch(app.url + path)
    return ((await response.json()) as { id: number }).id
  }
  const untilUnhealthy = async (app: TestApp, count: number): Promise<void> =>
    await pollUntil(() => app.running.status().instances.filter((one) => one.unhealthy !== null).length === count)

  it('gets no requests while another one is healthy', async () => {
    await using app = await start(2, {})
    const id = await idOf(app, '/set?status=500')
    await untilUnhealthy(app, 1)
    for (let asked = 0; asked < 50; asked++) assert.notEqual(await idOf(app), id)
  })

  it('and is the last one: requests get a 503 at once until it is healthy again', async () => {
    using folder = new TestFolder({ ready: '' })
    const READY_FILE = folder.at('ready')
    await using app = await start(1, { READY_FILE })
    const id = await idOf(app)
    rmSync(READY_FILE)
    await untilUnhealthy(app, 1)
    const read = (): number => app.running.status().entrance!.requests.http1
    const before = read()
    const refused = await fetch(app.url)
    assert.equal(refused.status, 503)
    await refused.arrayBuffer()
    assert.equal(read(), before + 1)
    await app.untilLogged('no worker serves: requests get a 503 (1 in a second)')
    writeFileSync(READY_FILE, '')
    await untilUnhealthy(app, 0)
    assert.equal(await idOf(app), id)
  })
})

describe('gateway.raw', { skip: entrances[1].skip }, () => {
  it('leaves the native entrance out', async () => {
    await using app = await TestApp.start({ services: { chat }, gateway: { entrance: 'native', raw: true } })
    assert.equal((await ask(app, '/none')).status, 200)
    assert.equal(app.running.status().entrance, null)
  })
})
