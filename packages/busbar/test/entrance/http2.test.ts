/** HTTP/2 of the native entrance beyond requests over TLS: in clear, and with WebSockets. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { text } from 'node:stream/consumers'
import { before, describe, it } from 'node:test'
import type { Service } from '../../src/config/app.ts'
import { appOf, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { selfSigned, type TestTls } from '../support/http/certificate.ts'
import { builtAddon } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }
const file = `${import.meta.dirname}/programs/app.mjs`

/** With a gateway: a sole entry would get the requests in its own server. */
async function start(tls?: { cert: string; key: string }): Promise<TestApp> {
  const other = { file, run: 'thread' } as const satisfies Partial<Service> & { file: string }
  const services = { a: { file, run: 'shared' }, other } as const
  const routes = [{ host: undefined, prefix: '/other', service: 'other' }]
  return await TestApp.startLoaded(appOf({ services, gateway: { entrance: 'native', routes, tls } }))
}

describe('HTTP/2 in clear', options, () => {
  it('is spoken with clients that begin with it', async () => {
    await using app = await start()
    const session = connect(app.url)
    const bodies = Array.from({ length: 20 }, async (_, n) => {
      const stream = session.request({ ':path': n % 2 === 0 ? '/' : '/other', ':method': 'POST' })
      stream.end(Buffer.alloc(n * 3_000))
      return await text(stream)
    })
    for (const [n, body] of (await Promise.all(bodies)).entries()) assert.match(body, new RegExp(` POST ${n * 3_000} `))
    const seen = JSON.parse(await text(session.request({ ':path': '/seen' }))) as Record<string, unknown>
    assert.deepEqual([seen['encrypted'], seen['url'], seen['remoteAddress']], [null, '/seen', '127.0.0.1'])
    session.destroy()
    const answer = await fetch(app.url)
    assert.match(await answer.text(), / GET 0 /)
  })

  it('begins however slowly its first bytes come, and only there', async () => {
    await using app = await start()
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
    const slow = connectTcp({ port: app.port, host: '127.0.0.1', noDelay: true })
    for (const byte of preface) {
      slow.write(Buffer.from([byte]))
      await new Promise((resolve) => setImmediate(resolve))
    }
    slow.write(settings)
    const [first] = (await once(slow, 'data')) as [Buffer]
    assert.equal(first[3], 4, 'a frame of SETTINGS')
    slow.destroy()
    const late = connectTcp({ port: app.port, host: '127.0.0.1' })
    late.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(late, 'data')
    late.write(preface)
    const [refused] = (await once(late, 'data')) as [Buffer]
    assert.match(String(refused), /^HTTP\/1\.1 (400|505) /)
    late.destroy()
    const status = app.running.status().entrance
    assert.ok(status !== null && status !== undefined)
  })
})

describe('WebSockets over HTTP/2', options, () => {
  let certificate: TestTls
  before(async () => {
    certificate = await selfSigned()
  })

  it('are passed on in both directions, by a service here and elsewhere', async () => {
    using folder = new TestFolder({ 'cert.pem': certificate.cert, 'key.pem': certificate.key })
    await using app = await start({ cert: folder.at('cert.pem'), key: folder.at('key.pem') })
    const session = connect(app.url.replace('127.0.0.1', 'localhost'), { ca: certificate.cert })
    await once(session, 'remoteSettings')
    assert.equal(session.remoteSettings.enableConnectProtocol, true)
    for (const path of ['/', '/other']) {
      const stream = await webSocket(session, path)
      const all = text(stream)
      const pieces = Array.from({ length: 30 }, (_, n) => String.fromCharCode(97 + (n % 26)).repeat(20_000))
      for (const piece of pieces) stream.write(piece)
      stream.end()
      assert.equal(await all, pieces.join(''), path)
    }
    assert.match(await text(session.request({ ':path': '/' })), / GET 0 /)
    session.destroy()
  })

  it('end on one side when they end on the other', async () => {
    await using app = await start()
    const session = connect(app.url)
    const stream = await webSocket(session, '/')
    stream.write('hello')
    assert.equal(String((await once(stream, 'data'))[0]), 'hello')
    stream.close(constants.NGHTTP2_CANCEL)
    await once(stream, 'close')
    const other = await webSocket(session, '/')
    other.end('bye')
    assert.equal(await text(other), 'bye')
    session.destroy()
  })

  it('are refused where there is no such path, and other protocols are', async () => {
    await using app = await start()
    const session = connect(app.url)
    await once(session, 'remoteSettings')
    const statusOf = async (headers: Record<string, string>): Promise<unknown> => {
      const stream = session.request({ ':method': 'CONNECT', ':scheme': 'http', ':authority': 'a', ...headers })
      stream.on('error', () => {})
      const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
      stream.close()
      return head[':status']
    }
    assert.equal(await statusOf({ ':protocol': 'websocket', ':path': '/a/../b' }), 400)
    // As the gateway answers CONNECT.
    assert.equal(await statusOf({ ':protocol': 'other', ':path': '/' }), 400)
    assert.match(await text(session.request({ ':path': '/' })), / GET 0 /)
    session.destroy()
  })
})

async function webSocket(session: ClientHttp2Session, path: string): Promise<ClientHttp2Stream> {
  if (session.remoteSettings.enableConnectProtocol !== true) await once(session, 'remoteSettings')
  const stream = session.request(
    { ':method': 'CONNECT', ':protocol': 'websocket', ':path': path, 'sec-websocket-version': '13' },
    { endStream: false },
  )
  const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
  assert.equal(head[':status'], 200)
  assert.equal(head['sec-websocket-accept'], undefined)
  return stream
}
