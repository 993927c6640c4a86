/** What the app's entrance answers in place of services, counted by reason at both entrances. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayConfig, Limits } from '../../src/config/app.ts'
import type { AppStatus } from '../../src/observe/app-status.ts'
import { formatMetrics } from '../../src/observe/metrics/metrics.ts'
import { appOf, type AppSetup, pollUntil, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { entrances } from './tls/secure-apps.ts'

const file = `${import.meta.dirname}/programs/refused.mjs`

interface Case {
  readonly reason: string
  readonly status: number
  readonly sent: string
  readonly limits?: Partial<Limits>
}

const request = (line: string, fields = ''): string =>
  `${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${fields}\r\n`
const chunked = 'Transfer-Encoding: chunked\r\n'

const cases: readonly Case[] = [
  { reason: 'malformed', status: 400, sent: 'nonsense\r\n\r\n' },
  { reason: 'malformed', status: 400, sent: request('GET /web/../x') },
  { reason: 'malformed', status: 400, sent: `${request('POST /web/reads', chunked)}nonsense\r\n` },
  { reason: 'not_implemented', status: 400, sent: 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n' },
  { reason: 'no_route', status: 404, sent: request('GET /nowhere') },
  { reason: 'head_timeout', status: 408, sent: 'GET / HTTP/1.1\r\nHo', limits: { headerTimeout: 300 } },
  {
    reason: 'body_timeout',
    status: 408,
    sent: request('POST /web/reads', 'Content-Length: 9\r\n'),
    limits: { requestTimeout: 300 },
  },
  {
    reason: 'body_too_large',
    status: 413,
    sent: request('POST /web/reads', 'Content-Length: 11\r\n'),
    limits: { maxBodySize: 10 },
  },
  {
    reason: 'extension_too_large',
    status: 413,
    sent: `${request('POST /web/reads', chunked)}1;${'x'.repeat(17_000)}\r\na\r\n0\r\n\r\n`,
  },
  { reason: 'head_too_large', status: 431, sent: request('GET /web', `X: ${'x'.repeat(20_000)}\r\n`) },
  { reason: 'head_too_large', status: 431, sent: request('GET /web', `X: ${'x'.repeat(80_000)}\r\n`) },
  { reason: 'hung_up', status: 502, sent: request('GET /web/hangs-up') },
  { reason: 'response_timeout', status: 504, sent: request('GET /web/silent'), limits: { responseTimeout: 200 } },
]

for (const { entrance, skip } of entrances)
  describe(`what the ${entrance} entrance answers itself is counted`, { skip }, () => {
    for (const { reason, status, sent, limits } of cases)
      it(`${reason}: ${JSON.stringify(sent.slice(0, 40))}`, async () => {
        await using app = await start(entrance, limits)
        assert.match(await answerTo(app, sent), new RegExp(`^HTTP/1\\.1 ${status} .*"status":${status}`, 's'))
        assert.deepEqual(counted(app), [{ status, reason, count: 1 }])
        const line = `busbar_entrance_refusals_total{app="test",status="${status}",reason="${reason}"} 1\n`
        assert.ok(formatMetrics(app.running.status()).includes(line))
      })

    it('not_serving: a service that does not start again', async () => {
      using folder = new TestFolder()
      await using app = await start(entrance, {}, folder.at('mark'))
      await answerTo(app, request('GET /down/exits'))
      let answer = ''
      while (!answer.startsWith('HTTP/1.1 503 ')) answer = await answerTo(app, request('GET /down'))
      const { count } = counted(app).find(({ reason }) => reason === 'not_serving')!
      await answerTo(app, request('GET /down'))
      assert.equal(counted(app).find(({ reason }) => reason === 'not_serving')!.count, count + 1)
    })

    it('malformed, once, also if the service gives the request up then', async () => {
      await using app = await start(entrance)
      const socket = connect({ port: app.port, host: '127.0.0.1' })
      socket.write(request('POST /web/gives-up', chunked))
      await once(socket, 'data')
      socket.write('nonsense\r\n')
      assert.match(await text(socket), /^HTTP\/1\.1 400 /)
      await untilLeft(app)
      assert.deepEqual(counted(app), [{ status: 400, reason: 'malformed', count: 1 }])
    })

    for (const method of ['GET', 'POST'])
      it(`worker_died, once for a ${method} whose service ends its worker`, async () => {
        await using app = await start(entrance)
        assert.match(await answerTo(app, request(`${method} /web/exits`)), /^HTTP\/1\.1 502 .*WORKER_DIED/s)
        await app.untilReplaced(0)
        await pollUntil(() => app.running.status().app.ready)
        assert.deepEqual(counted(app), [{ status: 502, reason: 'worker_died', count: 1 }])
      })

    for (const method of ['GET', 'POST'])
      it(`and a ${method} whose client resets the connection is not`, async () => {
        await using app = await start(entrance)
        const socket = connect({ port: app.port, host: '127.0.0.1' })
        const fields = method === 'POST' ? 'Content-Length: 1000\r\n' : ''
        socket.write(`${method} /web/gives-up HTTP/1.1\r\nHost: a\r\n${fields}\r\n`)
        await once(socket, 'data')
        socket.resetAndDestroy()
        await untilLeft(app)
        assert.deepEqual(counted(app), [])
      })

    it('and what services answer is not', async () => {
      await using app = await start(entrance)
      assert.match(await answerTo(app, request('GET /web/404')), /^HTTP\/1\.1 404 /)
      assert.match(await answerTo(app, request('GET /web/503')), /^HTTP\/1\.1 503 /)
      assert.deepEqual(counted(app), [])
    })

    it('for as long as the app runs, whatever becomes of its workers', async () => {
      await using app = await start(entrance)
      await answerTo(app, request('GET /nowhere'))
      await answerTo(app, request('GET /web/exits'))
      await app.untilReplaced(0)
      await pollUntil(() => app.running.status().app.ready)
      await answerTo(app, request('GET /nowhere'))
      const { count } = counted(app).find(({ reason }) => reason === 'no_route')!
      assert.equal(count, 2)
    })
  })

/** `mark`: of the service `down`. */
async function start(
  entrance: GatewayConfig['entrance'],
  limits: Partial<Limits> = {},
  mark?: string,
): Promise<TestApp> {
  const routes = ['web', ...(mark === undefined ? [] : ['down'])].map((service) => ({
    host: undefined,
    prefix: `/${service}`,
    service,
  }))
  const down: AppSetup['services'] = mark === undefined ? {} : { down: { file, run: 'thread', env: { MARK: mark } } }
  const app = appOf({
    services: { web: { file, run: 'shared' }, ...down },
    gateway: { entrance, entry: undefined, routes },
  })
  return await TestApp.startLoaded({ ...app, limits: { ...app.limits, ...limits } })
}

async function answerTo({ port }: TestApp, sent: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.write(sent)
  return await text(socket)
}

function counted(app: TestApp): AppStatus['refusals'] {
  return app.running.status().refusals.filter(({ count }) => count > 0)
}

/** The service has seen that a request of it has closed. */
async function untilLeft(app: TestApp): Promise<void> {
  while (!(await answerTo(app, request('GET /web/left'))).endsWith('\r\n\r\n1')) await sleep(20)
}
