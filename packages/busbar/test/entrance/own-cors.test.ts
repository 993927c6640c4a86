/** What the app's entrance answers in place of services can be read by pages of listed sites. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { describe, it } from 'node:test'
import type { GatewayConfig, Limits } from '../../src/config/app.ts'
import { appOf, TestApp } from '../support/app/test-app.ts'
import { builtAddon, Client, get } from './served.ts'
import { entrances } from './tls/secure-apps.ts'

const file = `${import.meta.dirname}/programs/refused.mjs`
const page = 'https://page.example'

interface Case {
  readonly status: number
  readonly sent: string
  readonly limits?: Partial<Limits>
}

const request = (line: string, fields = ''): string => `${line} HTTP/1.1\r\nHost: a\r\nOrigin: ${page}\r\n${fields}\r\n`
const chunked = 'Transfer-Encoding: chunked\r\n'

const cases: readonly Case[] = [
  { status: 400, sent: `${request('POST /web/reads', chunked)}nonsense\r\n` },
  { status: 408, sent: request('POST /web/reads', 'Content-Length: 9\r\n'), limits: { requestTimeout: 300 } },
  { status: 413, sent: request('POST /web/reads', 'Content-Length: 11\r\n'), limits: { maxBodySize: 10 } },
  { status: 413, sent: `${request('POST /web/reads', chunked)}1;${'x'.repeat(17_000)}\r\na\r\n0\r\n\r\n` },
  { status: 502, sent: request('GET /web/hangs-up', 'Connection: close\r\n') },
  { status: 502, sent: request('HEAD /web/hangs-up', 'Connection: close\r\n') },
  { status: 502, sent: request('GET /far/hangs-up', 'Connection: close\r\n') },
  { status: 504, sent: request('GET /far/silent', 'Connection: close\r\n'), limits: { responseTimeout: 200 } },
]

const readable = new RegExp(`\r\naccess-control-allow-origin: ${page}\r\n`, 'i')

for (const { entrance, skip } of entrances)
  describe(`a page of a site in gateway.cors reads what the ${entrance} entrance answers`, { skip }, () => {
    for (const { status, sent, limits } of cases)
      it(`${status}: ${JSON.stringify(sent.slice(0, 20))}`, async () => {
        await using app = await start(entrance, limits)
        const answer = await answerTo(app, sent)
        assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer)
        for (const field of [readable, /\r\naccess-control-expose-headers: \*\r\n/i, /\r\nvary: origin\r\n/i])
          assert.match(answer, field)
        const other = await answerTo(app, sent.replace(page, 'https://other.example'))
        assert.match(other, /\r\nvary: origin\r\n/i)
        assert.doesNotMatch(other, /access-control/i)
        assert.doesNotMatch(await answerTo(app, sent.replace(/Origin.*\r\n/, '')), /access-control|vary/i)
      })

    it('but not to a head that it could not read, also behind a request of that page', async () => {
      await using app = await start(entrance)
      const large = request('GET /web', `X: ${'x'.repeat(20_000)}\r\n`)
      assert.match(await answerTo(app, large), /^HTTP\/1\.1 431 (?![^]*access-control)/)
      const client = new Client(app.port).send(get('/web/ok', `Origin: ${page}\r\n`))
      await client.until('ok')
      client.send('nonsense\r\n\r\n')
      await client.closed
      assert.match(client.bytes, /HTTP\/1\.1 400 /)
      assert.doesNotMatch(client.bytes, /access-control/i)
    })
  })

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }

describe('a page of a site in gateway.cors reads what the entrance answers over HTTP/2', options, () => {
  for (const [service, wanted] of [
    ['web', 'hangs-up'],
    ['far', 'hangs-up'],
  ])
    it(`in place of ${service}`, async () => {
      await using app = await start('native')
      const session = connectHttp2(app.url)
      const headOf = async (origin: string): Promise<IncomingHttpHeaders> => {
        const stream = session.request({ ':path': `/${service}/${wanted}`, origin })
        const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders]
        stream.resume()
        return head
      }
      const head = await headOf(page)
      assert.equal(head[':status'], 502)
      assert.equal(head['access-control-allow-origin'], page)
      const other = await headOf('https://other.example')
      assert.deepEqual([other['vary'], other['access-control-allow-origin']], ['origin', undefined])
      session.destroy()
    })

  it('but not what h2 answers to a head that is far too large', async () => {
    await using app = await start('native')
    const session = connectHttp2(app.url, { maxSendHeaderBlockLength: 1_000_000 })
    for (const [count, allowed] of [
      [100, page],
      [200, undefined],
    ] as const) {
      const large = Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, 'x'.repeat(1_000)]))
      const stream = session.request({ ':path': '/web/ok', origin: page, ...large })
      const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders]
      stream.on('error', () => {}).resume()
      assert.deepEqual([head[':status'], head['access-control-allow-origin']], [431, allowed])
    }
    session.destroy()
  })
})

async function start(entrance: GatewayConfig['entrance'], limits: Partial<Limits> = {}): Promise<TestApp> {
  const routes = ['web', 'far'].map((service) => ({ host: undefined, prefix: `/${service}`, service }))
  const services = { web: { file, run: 'shared' as const }, far: { file, run: 'process' as const } }
  const app = appOf({ services, gateway: { entrance, entry: undefined, routes, cors: [page] } })
  return await TestApp.startLoaded({ ...app, limits: { ...app.limits, ...limits } })
}

/** The head. */
async function answerTo({ port }: TestApp, sent: string): Promise<string> {
  const client = new Client(port).send(sent)
  await client.until('\r\n\r\n')
  client.socket.destroy()
  return client.bytes
}
