/** TLS and HTTP/2 of the native entrance. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect as connectHttp2, type ClientHttp2Session, constants, type IncomingHttpHeaders } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { describe, it } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { selfSigned, type TestTls } from '../support/http/certificate.ts'
import { type AppSetup, appOf, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { builtAddon, eventually } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }
const file = `${import.meta.dirname}/programs/app.mjs`
const services: AppSetup['services'] = { a: { file, run: 'shared', env: { SERVICE: 'a' } } }

class SecureApp implements AsyncDisposable {
  readonly app: TestApp
  readonly tls: TestTls
  readonly folder: TestFolder

  private constructor(app: TestApp, tls: TestTls, folder: TestFolder) {
    this.app = app
    this.tls = tls
    this.folder = folder
  }

  static async start(setup: Partial<AppSetup> = {}): Promise<SecureApp> {
    const tls = await selfSigned()
    const folder = new TestFolder({ 'cert.pem': tls.cert, 'key.pem': tls.key })
    const files = { cert: folder.at('cert.pem'), key: folder.at('key.pem') }
    const app = appOf({ services, ...setup, gateway: { entrance: 'native', tls: files } })
    return new SecureApp(await TestApp.startLoaded(app), tls, folder)
  }

  async handshake(more: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = connect({
      port: this.app.port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: this.tls.cert,
      ...more,
    })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    return socket
  }

  async get(path: string, ca = this.tls.cert): Promise<string> {
    return await new Promise((resolve, reject) => {
      const sent = httpsRequest({ port: this.app.port, host: '127.0.0.1', path, ca, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (more: string) => (text += more))
        response.on('end', () => resolve(text))
      })
      sent.on('error', reject).end()
    })
  }

  async http2(): Promise<ClientHttp2Session> {
    const session = connectHttp2(`https://localhost:${this.app.port}`, { ca: this.tls.cert })
    await new Promise((resolve, reject) => session.once('connect', resolve).once('error', reject))
    return session
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]()
    this.folder[Symbol.dispose]()
  }
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

async function ask(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === undefined })
  const answer = new Promise<Answer>((resolve, reject) => {
    let [text, seen] = ['', {} as IncomingHttpHeaders]
    stream.on('response', (head) => (seen = head))
    stream.setEncoding('latin1').on('data', (more: string) => (text += more))
    stream.on('end', () => resolve({ status: Number(seen[':status']), headers: seen, text })).on('error', reject)
  })
  if (body !== undefined) stream.end(body)
  return await answer
}

describe('the TLS of the native entrance', options, () => {
  it('is of version 1.2 and 1.3, and programs see it', async () => {
    await using secure = await SecureApp.start()
    const protocols: (string | null)[] = []
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await secure.handshake({ maxVersion, ALPNProtocols: ['http/1.1'] })
      protocols.push(socket.getProtocol(), socket.alpnProtocol as string)
      socket.destroy()
    }
    assert.deepEqual(protocols, ['TLSv1.2', 'http/1.1', 'TLSv1.3', 'http/1.1'])
    await assert.rejects(
      secure.handshake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    )
    const seen = JSON.parse(await secure.get('/seen')) as { encrypted: boolean; rawHeaders: string[] }
    assert.equal(seen.encrypted, true)
    assert.equal(seen.rawHeaders[seen.rawHeaders.indexOf('x-forwarded-proto') + 1], 'https')
  })

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    it(`resumes a session, after a new certificate too (${maxVersion})`, async () => {
      await using secure = await SecureApp.start()
      const first = await secure.handshake({ maxVersion })
      first.write('GET /seen HTTP/1.1\r\nHost: a\r\n\r\n')
      await once(first, 'data')
      const session = first.getSession()!
      first.destroy()
      const renewed = await selfSigned()
      writeFileSync(secure.folder.at('key.pem'), renewed.key)
      writeFileSync(secure.folder.at('cert.pem'), renewed.cert)
      await secure.app.untilLogged('the new certificate is in use')
      assert.match(await secure.get('/', renewed.cert), /^a GET/)
      await assert.rejects(secure.get('/'))
      const resumed = await secure.handshake({ maxVersion, session })
      assert.equal(resumed.isSessionReused(), true)
      resumed.destroy()
    })

  it('keeps its certificate if the new file is broken', async () => {
    await using secure = await SecureApp.start()
    writeFileSync(secure.folder.at('cert.pem'), 'broken')
    await secure.app.untilLogged('the new certificate is refused')
    assert.match(await secure.get('/'), /^a GET/)
  })

  it('gives a large response to a slow reader, and reads a large request', async () => {
    await using secure = await SecureApp.start()
    const socket = await secure.handshake()
    const body = 'x'.repeat(900_000)
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`)
    socket.write(body)
    let text = ''
    for await (const more of socket.setEncoding('latin1')) text += String(more)
    assert.match(text, /^HTTP\/1\.1 200 OK.*a POST 900000 /s)
  })

  it('ends a handshake that does not come', async () => {
    const limits = { ...appOf({ services }).limits, headerTimeout: 300 }
    await using secure = await SecureApp.start({ limits })
    const silent = connectTcp({ port: secure.app.port, host: '127.0.0.1' }).on('error', () => {})
    await once(silent.resume(), 'close')
    assert.match(await secure.get('/'), /^a GET/)
  })
})

describe('the HTTP/2 of the native entrance', options, () => {
  it('carries requests and responses with their fields and bodies', async () => {
    await using secure = await SecureApp.start()
    const session = await secure.http2()
    const seen = await ask(session, { ':path': '/seen?q=1', 'x-one': '1', cookie: 'a=1; b=2' })
    assert.equal(seen.status, 200)
    const { url, rawHeaders, alpnProtocol } = JSON.parse(seen.text) as Record<string, unknown> & {
      rawHeaders: string[]
    }
    assert.deepEqual([url, alpnProtocol], ['/seen?q=1', 'h2'])
    assert.equal(rawHeaders[rawHeaders.indexOf('Host') + 1], `localhost:${secure.app.port}`)
    assert.equal(rawHeaders[rawHeaders.indexOf('cookie') + 1], 'a=1; b=2')
    assert.equal(seen.headers['connection'], undefined)
    const all = Array.from({ length: 50 }, (_, n) =>
      ask(session, { ':path': '/', ':method': 'POST' }, Buffer.alloc(n * 5_000)),
    )
    for (const [n, answer] of (await Promise.all(all)).entries())
      assert.match(answer.text, new RegExp(`^a POST ${n * 5_000} `))
    const head = await ask(session, { ':path': '/', ':method': 'HEAD' })
    assert.deepEqual([head.status, head.text], [200, ''])
    session.destroy()
  })

  it("gives the gateway's own responses", async () => {
    await using secure = await SecureApp.start()
    const session = await secure.http2()
    const answer = await ask(session, { ':path': '/a/../b' })
    assert.equal(answer.status, 400)
    assert.match(answer.text, /REQUEST_MALFORMED/)
    assert.match((await ask(session, { ':path': '/' })).text, /^a GET/)
    session.destroy()
  })

  it('closes the connection of a client that resets its streams all the time', async () => {
    await using secure = await SecureApp.start()
    const socket = await secure.handshake({ ALPNProtocols: ['h2'] })
    const session = connectHttp2(`https://localhost:${secure.app.port}`, { createConnection: () => socket })
    const healthy = await secure.http2()
    let code: number | undefined
    session.on('goaway', (reason: number) => (code ??= reason)).on('error', () => {})
    // Only the healthy one stays.
    while ((secure.app.running.status().entrance?.connections ?? 0) > 1) {
      for (let n = 0; n < 50 && !session.closed && !session.destroyed; n++) {
        const stream = session.request({ ':path': '/never' })
        stream.on('error', () => {})
        setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), 5)
      }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    // A client that is still sending may lose the reason with its connection.
    assert.ok(code === undefined || code === constants.NGHTTP2_ENHANCE_YOUR_CALM, `${code}`)
    session.destroy()
    // Node's session waits for its writes, which a lost connection does not always end.
    socket.destroy()
    assert.match((await ask(healthy, { ':path': '/' })).text, /^a GET/)
    healthy.destroy()
  })

  it('finishes the streams of a connection when the app stops', async () => {
    const secure = await SecureApp.start()
    const session = await secure.http2()
    const late = ask(session, { ':path': '/late' })
    await eventually(() => secure.app.running.status().workers.some(({ requests }) => requests > 0))
    await secure[Symbol.asyncDispose]()
    assert.equal((await late).status, 200)
    session.destroy()
  })
})
