/** Certificates of clients, at both entrances. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { connect as connectHttp2 } from 'node:http2'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { connect, type ConnectionOptions } from 'node:tls'
import { WebSocket } from 'ws'
import type { Route, TlsFiles } from '../../../src/config/app.ts'
import type { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { Authority, type Issued } from '../../support/http/authority.ts'
import { ask, type Asked, entrances, handshake, seen, startSecure, writePair } from './secure-apps.ts'

interface Seen {
  readonly url: string
  readonly authorized: boolean | null
  readonly subject: string | null
  readonly field: string | null
  readonly chain: string | null
}

const routeOf = (prefix: string, service: string, clientCertificate?: Route['clientCertificate']): Route => ({
  host: undefined,
  prefix,
  service,
  clientCertificate,
})

const services = {
  seen: { file: seen, run: 'shared' },
  elsewhere: { file: seen, run: 'thread' },
  process: { file: seen, run: 'process' },
  counter: { file: `${import.meta.dirname}/programs/counter.mjs`, run: 'shared' },
} as const

const routes = [
  routeOf('/secret', 'seen', 'required'),
  routeOf('/elsewhere', 'elsewhere', 'required'),
  routeOf('/process', 'process'),
  routeOf('/free', 'seen', 'optional'),
  routeOf('/counter', 'counter'),
]

for (const { entrance, skip } of entrances)
  describe(`clients with a certificate at the ${entrance} entrance`, { skip }, () => {
    let authority: Authority
    let stranger: Authority
    let server: Issued
    let alice: Issued
    /** For tests that change nothing. */
    let app: TestApp
    const files = new TestFolder()
    before(async () => {
      ;[authority, stranger] = [await Authority.create('of clients'), await Authority.create('unknown')]
      server = await authority.forServer('localhost')
      alice = await authority.forClient('alice')
      app = await start(files)
    })
    after(async () => {
      await app[Symbol.asyncDispose]()
      files[Symbol.dispose]()
    })

    const start = async (folder: TestFolder, more: Partial<TlsFiles> = {}): Promise<TestApp> => {
      folder.write('ca.pem', authority.cert)
      const tls = { ...writePair(folder, 'server', server), clientCa: folder.at('ca.pem'), ...more }
      return await startSecure({ entrance, tls, routes, services })
    }
    const get = async (app: TestApp, path: string, more: Asked = {}) =>
      await ask(app, { servername: 'localhost', ca: authority.cert, path, ...more })
    const seenBy = async (app: TestApp, path: string, more: Asked = {}): Promise<Seen> =>
      JSON.parse((await get(app, path, more)).body) as Seen
    const fieldOf = ({ cert }: Issued): string => `:${new X509Certificate(cert).raw.toString('base64')}:`

    it('are known to programs, by their socket and by a field, wherever they run', async () => {
      const here = await seenBy(app, '/secret/x', alice)
      assert.deepEqual(here, { url: '/x', authorized: true, subject: 'alice', field: fieldOf(alice), chain: null })
      for (const path of ['/elsewhere/x', '/process/x'])
        assert.deepEqual(await seenBy(app, path, alice), { ...here, authorized: null, subject: null }, path)
    })

    it('are not needed where the route does not say so, and needed where it does', async () => {
      const nobody = { authorized: false, subject: null, field: null, chain: null }
      assert.deepEqual(await seenBy(app, '/open'), { url: '/open', ...nobody })
      for (const path of ['/secret', '/elsewhere/x?y']) {
        const refused = await get(app, path)
        assert.equal(refused.status, 403)
        assert.equal((JSON.parse(refused.body) as { code: string }).code, 'CLIENT_CERTIFICATE_MISSING')
      }
    })

    it('are needed everywhere but where a route says otherwise, if the app says so', async () => {
      using folder = new TestFolder()
      await using app = await start(folder, { clientCertificate: 'required' })
      assert.equal((await get(app, '/open')).status, 403)
      assert.equal((await get(app, '/process')).status, 403)
      assert.equal((await seenBy(app, '/free')).authorized, false)
      assert.equal((await seenBy(app, '/open', alice)).subject, 'alice')
    })

    it('cannot be claimed by a field, with or without a certificate', async () => {
      const headers = { 'Client-Cert': ':AAAA:', 'client-cert-chain': ':AAAA:', connection: 'client-cert' }
      for (const path of ['/open', '/process']) {
        assert.equal((await seenBy(app, path, { headers })).field, null)
        const { field, chain } = await seenBy(app, path, { headers, ...alice })
        assert.deepEqual([field, chain], [fieldOf(alice), null])
      }
      assert.equal((await get(app, '/secret', { headers })).status, 403)
    })

    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      it(`of an unknown authority are refused (${maxVersion})`, async () => {
        const mallory = await stranger.forClient('alice')
        for (const path of ['/open', '/secret']) await assert.rejects(get(app, path, { ...mallory, maxVersion }), path)
      })

      it(`of an unknown authority reach no program with what follows the handshake (${maxVersion})`, async () => {
        const mallory = await stranger.forClient('mallory')
        const before = Number((await get(app, '/counter')).body)
        for (let attempt = 0; attempt < 5; attempt++) {
          const options = { ca: authority.cert, servername: 'localhost', ...mallory, maxVersion }
          const socket = connect({ port: app.port, host: '127.0.0.1', ALPNProtocols: ['http/1.1'], ...options })
          // It is sent with the end of the handshake.
          socket.on('error', () => {}).resume()
          socket.write('GET /counter HTTP/1.1\r\nHost: a\r\n\r\n')
          await new Promise((resolve) => socket.once('close', resolve))
        }
        assert.equal(Number((await get(app, '/counter')).body), before + 1)
      })

      it(`keep their identity in a resumed session, and others get none by one (${maxVersion})`, async () => {
        const options = { servername: 'localhost', ca: authority.cert, maxVersion }
        const ofAlice = { ...options, session: await sessionOf(app, { ...options, ...alice }) }
        assert.deepEqual(await resumed(app, ofAlice), { reused: true, status: 200, subject: 'alice' })
        const ofNobody = { ...options, session: await sessionOf(app, options) }
        assert.deepEqual(await resumed(app, ofNobody), { reused: true, status: 403, subject: undefined })
      })

      it(`are forgotten with their authority (${maxVersion})`, async () => {
        using folder = new TestFolder()
        await using app = await start(folder)
        const options = { servername: 'localhost', ca: authority.cert, maxVersion }
        const session = await sessionOf(app, { ...options, ...alice })
        folder.write('ca.pem', stranger.cert)
        await app.untilLogged('the new certificate is in use')
        assert.deepEqual(await resumed(app, { ...options, session }), {
          reused: false,
          status: 403,
          subject: undefined,
        })
        await assert.rejects(get(app, '/secret', alice))
        const bob = await stranger.forClient('bob')
        assert.equal((await seenBy(app, '/secret', bob)).subject, 'bob')
      })
    }

    it('are needed for upgrades, too', async () => {
      const url = `wss://127.0.0.1:${app.port}/secret`
      const trusted = { ca: authority.cert, servername: 'localhost' }
      const client = new WebSocket(url, trusted)
      const status = await new Promise((resolve) => {
        client.once('unexpected-response', (_, response) => resolve(response.statusCode)).once('error', () => {})
      })
      assert.equal(status, 403)
      client.terminate()
    })
  })

describe('clients with a certificate and HTTP/2', { skip: entrances[1].skip }, () => {
  it('are known in every stream', async () => {
    using folder = new TestFolder()
    const authority = await Authority.create('of clients')
    folder.write('ca.pem', authority.cert)
    const tls = {
      ...writePair(folder, 'server', await authority.forServer('localhost')),
      clientCa: folder.at('ca.pem'),
      clientCertificate: 'required',
    } as const
    await using app = await startSecure({ entrance: 'native', tls, services })
    const alice = await authority.forClient('alice')
    const session = connectHttp2(`https://localhost:${app.port}`, { ca: authority.cert, ...alice })
    const bodies = await Promise.all(['/a', '/b'].map((path) => text(session.request({ ':path': path }))))
    for (const body of bodies) assert.equal((JSON.parse(body) as Seen).subject, 'alice')
    session.destroy()
  })
})

async function sessionOf(app: TestApp, options: ConnectionOptions): Promise<Buffer> {
  const socket = await handshake(app, options)
  const session = new Promise<Buffer>((resolve) => socket.once('session', resolve))
  socket.resume().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  const ticket = socket.getProtocol() === 'TLSv1.2' ? socket.getSession()! : await session
  socket.destroy()
  return ticket
}

/** What a client gets at a path that needs a certificate, with a session and without one. */
async function resumed(
  app: TestApp,
  options: ConnectionOptions,
): Promise<{ reused: boolean; status: number; subject: string | undefined }> {
  const socket = await handshake(app, options)
  const reused = socket.isSessionReused()
  socket.write('GET /secret HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const answer = await text(socket)
  const { subject } = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)) as { subject?: string }
  return { reused, status: Number(answer.slice(9, 12)), subject }
}
