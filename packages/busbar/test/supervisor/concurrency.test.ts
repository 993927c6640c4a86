import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App, Service } from '../../src/config/app.ts'
import { TestApp } from '../support/app/test-app.ts'
import { wanted } from '../support/mesh/wanted-accelerators.ts'

const fan = `${import.meta.dirname}/programs/fan.js`
const render = `${import.meta.dirname}/programs/render.js`

interface Outcome {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: { readonly most: number; readonly thread: number; readonly pid: number; readonly code?: string }
}

type Place = Pick<Service, 'run' | 'instances'>

const callers: Record<string, Place> = {
  'a shared worker': { run: 'shared', instances: 1 },
  'a thread': { run: 'thread', instances: 1 },
  'a process': { run: 'process', instances: 1 },
}

const callees: Record<string, Place> = {
  'the same thread': { run: 'shared', instances: 1 },
  threads: { run: 'thread', instances: 2 },
  processes: { run: 'process', instances: 2 },
}

for (const [from, caller] of Object.entries(callers))
  for (const [to, callee] of Object.entries(callees))
    for (const client of caller.run === 'shared' ? ['fetch', 'http'] : ['fetch'])
      test(`an instance gets at most as many requests as its concurrency: from ${from} to ${to}, by ${client}`, async () => {
        await using app = await start(caller, { ...callee, concurrency: 2, queue: 100 })
        const outcomes = await ask(app, client, 12, 5)
        assert.deepEqual(new Set(outcomes.map(({ status }) => status)), new Set([200]))
        assert.equal(Math.max(...outcomes.map(({ body }) => body.most)), 2)
        const used = new Set(outcomes.map(({ body }) => `${body.pid} ${body.thread}`))
        assert.equal(used.size, callee.instances)
      })

for (const [to, callee] of Object.entries(callees))
  test(`without accelerators, the limit holds too: to ${to}`, async () => {
    await using app = await start(callers['a shared worker']!, { ...callee, concurrency: 2, queue: 100 }, [])
    const outcomes = await ask(app, 'http', 8, 5)
    assert.deepEqual(new Set(outcomes.map(({ status }) => status)), new Set([200]))
    assert.equal(Math.max(...outcomes.map(({ body }) => body.most)), 2)
    assert.equal((await fetch(`${app.url}/render?ms=1`)).status, 200)
  })

describe('when too many wait', () => {
  for (const [from, caller] of Object.entries(callers))
    for (const client of caller.run === 'thread' ? ['fetch', 'http'] : ['fetch'])
      test(`further requests get a 503 with retry-after at once: from ${from}, by ${client}`, async () => {
        await using app = await start(caller, { run: 'thread', instances: 1, concurrency: 1, queue: 2 })
        const outcomes = await ask(app, client, 6, 50)
        const refused = outcomes.filter(({ status }) => status === 503)
        assert.equal(refused.length, 3)
        assert.deepEqual(new Set(refused.map(({ retryAfter }) => retryAfter)), new Set(['1']))
        assert.equal(refused[0]!.body.code, 'RESOURCE_EXHAUSTED')
        assert.equal(outcomes.filter(({ status }) => status === 200).length, 3)
      })

  test('the gateway answers 503 too, and the status counts it', async () => {
    await using app = await start(callers['a shared worker']!, {
      run: 'thread',
      instances: 1,
      concurrency: 1,
      queue: 1,
    })
    const answers = await Promise.all(Array.from({ length: 5 }, () => fetch(`${app.url}/render?ms=50`)))
    const refused = answers.filter(({ status }) => status === 503)
    assert.equal(refused.length, 3)
    assert.equal(refused[0]!.headers.get('retry-after'), '1')
    for (const answer of answers) await answer.text()
    const { services } = app.running.status()
    assert.equal(services.find(({ service }) => service === 'render')!.shed, 3)
  })
})

async function start(
  caller: Place,
  callee: Partial<Service>,
  accelerators: App['accelerators'] = wanted,
): Promise<TestApp> {
  return await TestApp.start({
    accelerators,
    services: { fan: { file: fan, ...caller }, render: { file: render, ...callee } },
    gateway: {
      entry: 'fan',
      routes: [{ host: undefined, prefix: '/render', service: 'render' }],
    },
  })
}

async function ask(app: TestApp, client: string, count: number, ms: number): Promise<Outcome[]> {
  const answer = await fetch(`${app.url}/?client=${client}&count=${count}&ms=${ms}`, {
    headers: { connection: 'close' },
  })
  return (await answer.json()) as Outcome[]
}
