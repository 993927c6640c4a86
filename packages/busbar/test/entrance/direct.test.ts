/**
 * Services in processes and commands, which the native entrance reaches without a worker between.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type AppSetup, appOf, TestApp } from '../support/app/test-app.ts'
import { builtAddon, Client, eventually, get } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }
const file = `${import.meta.dirname}/programs/app.mjs`

function setup(run: 'process' | 'command'): AppSetup {
  const path = import.meta.dirname
  const kind = run === 'command' ? 'command' : 'program'
  const entry = run === 'command' ? { entry: { file: 'node', args: [file] } } : {}
  return {
    services: {
      a: { file, run: 'shared', env: { SERVICE: 'a' } },
      c: { file, run: 'process', kind, path, env: { SERVICE: 'c' }, ...(entry as object) },
    },
    gateway: { entrance: 'native', entry: 'a', routes: [{ host: undefined, prefix: '/c', service: 'c' }] },
  }
}

function direct(app: TestApp): number {
  return app.running.status().entrance!.direct
}

/** By what the entrance has refused requests. */
function refused(app: TestApp): readonly string[] {
  const { refusals } = app.running.status().entrance!
  return refusals.filter(({ count }) => count > 0).map(({ status, reason }) => `${status} ${reason}`)
}

/** What a client gets, without what differs from one request to the next. */
async function answerTo(app: TestApp, text: string, end: string): Promise<string> {
  const client = new Client(app.port).send(text)
  await client.until(end)
  client.socket.destroy()
  return client.bytes
    .replace(/^Date: .*\r\n/m, '')
    .replace(/^Content-Length: \d+/m, '')
    .replace(/"localPort":\d+/, '')
}

/** A field that the gateway removes, so it is a worker's to forward the request. */
const byWorker = 'X-Forwarded-For: 6.6.6.6\r\n'

describe('a service in a process', options, () => {
  it('is reached directly, and the client and the program see the same as through a worker', async () => {
    await using app = await TestApp.startLoaded(appOf(setup('process')))
    for (const [path, end] of [
      ['/c/seen?a=1', '}'],
      ['/c/stream', '\r\n0\r\n'],
      ['/c/none', '\r\n\r\n'],
      ['/c/until-end', '\r\n0\r\n'],
    ] as const) {
      const before = direct(app)
      const one = await answerTo(app, get(path), end)
      assert.equal(direct(app), before + 1, path)
      const other = await answerTo(app, get(path, byWorker), end)
      assert.equal(direct(app), before + 1, path)
      assert.equal(one, other)
    }
  })

  it('gets bodies, and gives large ones to slow readers', async () => {
    await using app = await TestApp.startLoaded(appOf(setup('process')))
    const url = new URL('/c/', app.url)
    const answers = await Promise.all(
      [0, 10, 70_000, 900_000].map(async (length) => {
        const response = await fetch(url, { method: 'POST', body: Buffer.alloc(length) })
        return (await response.text()).split(' ').slice(0, 3).join(' ')
      }),
    )
    assert.deepEqual(answers, ['c POST 0', 'c POST 10', 'c POST 70000', 'c POST 900000'])
    const large = await fetch(new URL('/c/large', app.url))
    let read = 0
    for await (const chunk of large.body!) read += chunk.length
    assert.equal(read, 5_000_000)
    assert.equal(direct(app), 5)
  })

  it('that does not read a body does not block the next request of its connection', async () => {
    await using app = await TestApp.startLoaded(appOf(setup('process')))
    const client = new Client(app.port)
    for (let turn = 0; turn < 3; turn++) {
      const before = direct(app)
      client.bytes = ''
      client.send(`POST /c/none HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n${'x'.repeat(900_000)}`)
      client.send(get('/c/'))
      await client.until('c GET 0')
      assert.match(client.bytes, /^HTTP\/1\.1 204 /)
      assert.equal(direct(app), before + 2)
    }
    client.socket.destroy()
  })

  it('that dies is replaced: idempotent requests are answered, others get 502', async () => {
    await using app = await TestApp.startLoaded(appOf(setup('process')), { timing: { backoff: 10, backoffMax: 10 } })
    const died = await fetch(new URL('/c/exit', app.url), { method: 'POST' })
    assert.equal(died.status, 502)
    assert.deepEqual(refused(app), ['502 hung_up'])
    await eventually(async () => (await fetch(new URL('/c/', app.url))).status === 200)
    await eventually(async () => {
      const before = direct(app)
      assert.match(await (await fetch(new URL('/c/', app.url))).text(), /^c GET/)
      return direct(app) === before + 1
    })
  })

  it('that is replaced loses no request', async () => {
    await using app = await TestApp.startLoaded(appOf(setup('process')))
    const statuses = new Set<number>()
    let isOver = false
    const ask = async (method: string): Promise<void> => {
      while (!isOver) {
        const response = await fetch(new URL('/c/', app.url), { method })
        await response.arrayBuffer()
        statuses.add(response.status)
      }
    }
    const clients = ['GET', 'GET', 'POST', 'POST'].map(ask)
    for (let n = 0; n < 3; n++) await app.running.replace()
    isOver = true
    await Promise.all(clients)
    assert.deepEqual([...statuses], [200])
    assert.ok(direct(app) > 0)
  })

  it('that is a command and is replaced is ended when it has answered', async () => {
    await using app = await TestApp.startLoaded(appOf(setup('command')))
    const late = fetch(new URL('/c/late', app.url), { method: 'POST', body: 'a' })
    await eventually(() => app.running.status().entrance!.inFlight === 1)
    await app.running.replace()
    const response = await late
    assert.deepEqual([response.status, (await response.text()).slice(0, 9)], [200, 'c POST 1 '])
    assert.equal(direct(app), 1)
  })

  it('names the coding `identity`: its body lasts until the end of its connection', async () => {
    for (const run of ['process', 'command'] as const) {
      await using app = await TestApp.startLoaded(appOf(setup(run)))
      for (const fields of ['', byWorker]) {
        const answer = await answerTo(app, get('/c/identity', fields), '\r\n0\r\n')
        assert.match(answer, /^HTTP\/1.1 200 OK\r\n[^]*Transfer-Encoding: chunked\r\n[^]*until the end/)
        assert.doesNotMatch(answer, /identity/)
      }
    }
  })

  it('answers too late, or not with HTTP: the client learns which, and it is counted', async () => {
    const limits = { ...appOf(setup('process')).limits, responseTimeout: 300 }
    await using app = await TestApp.startLoaded(appOf({ ...setup('process'), limits }))
    for (const [path, status, code] of [
      ['/c/never', 504, 'RESPONSE_TIMEOUT'],
      ['/c/garbage', 502, 'ANSWER_MALFORMED'],
    ] as const) {
      const response = await fetch(new URL(path, app.url))
      const problem = (await response.json()) as Record<string, unknown>
      assert.deepEqual([response.status, problem['code'], problem['service']], [status, code, 'c'])
    }
    assert.deepEqual(refused(app), ['502 response_malformed', '504 response_timeout'])
  })

  it('that resets its connection within a body without a length: the client sees that it is cut', async () => {
    await using app = await TestApp.startLoaded(appOf(setup('command')))
    const client = new Client(app.port).send(get('/c/part'))
    await client.until('part')
    await fetch(new URL('/c/reset', app.url))
    await client.closed
    assert.doesNotMatch(client.bytes, /\r\n0\r\n/)
    const outcomes = (): string[] =>
      app.running.status().edges.flatMap((edge) => edge.outcomes.map(({ status, count }) => `${status} ${count}`))
    await eventually(() => outcomes().length === 2)
    assert.deepEqual(new Set(outcomes()), new Set(['200 1', 'none 1']))
  })
})
