import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { before, describe, it } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { WebSocket, WebSocketServer } from 'ws'
import { isNative } from '../../support/app/wanted-entrance.ts'
import { selfSigned, type TestTls } from '../../support/http/certificate.ts'
import { RawClient, TestGateway } from '../../support/http/test-gateway.ts'

const web: RequestListener = (req, res) => void res.end(JSON.stringify([req.url, req.headers['x-forwarded-proto']]))

describe('over TLS', () => {
  let tls: TestTls
  before(async () => {
    tls = await selfSigned()
  })

  it('an entry is served as HTTPS, with a valid certificate', async () => {
    await using gateway = await TestGateway.start({ services: { web }, entry: 'web', tls })
    assert.equal(await get(gateway, '/x', tls), '["/x","https"]')
  })

  it('only TLS 1.2 and 1.3 are accepted, and HTTP/2 only by the native entrance', async () => {
    await using gateway = await TestGateway.start({ services: { web }, entry: 'web', tls })
    const protocols: (string | null)[] = []
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await handshake(gateway, { ca: tls.cert, maxVersion: version, ALPNProtocols: ['h2', 'http/1.1'] })
      protocols.push(socket.getProtocol(), socket.alpnProtocol as string)
      socket.destroy()
    }
    const protocol = isNative ? 'h2' : 'http/1.1'
    assert.deepEqual(protocols, ['TLSv1.2', protocol, 'TLSv1.3', protocol])
    const old = handshake(gateway, {
      ca: tls.cert,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    await assert.rejects(old)
  })

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    it(`a session of one worker is resumed by another, and after a new certificate (${maxVersion})`, async () => {
      await using one = await TestGateway.start({ services: { web }, entry: 'web', tls })
      // The native entrance does the handshakes of all workers.
      await using another = await TestGateway.start({ services: { web }, entry: 'web', tls })
      const other = isNative ? one : another
      const session = await sessionOf(one, { ca: tls.cert, maxVersion })
      assert.equal(await resumes(other, { ca: tls.cert, maxVersion, session }), true)
      other.setTls({ ...(await selfSigned()), ticketKeys: tls.ticketKeys })
      assert.equal(await resumes(other, { ca: tls.cert, maxVersion, session }), true)
      await using stranger = await TestGateway.start({
        services: { web },
        entry: 'web',
        tls: { ...tls, ticketKeys: randomBytes(48) },
      })
      assert.equal(await resumes(stranger, { ca: tls.cert, maxVersion, session }), false)
    })

  it('a new certificate applies to new connections only', async () => {
    await using gateway = await TestGateway.start({ services: { web }, entry: 'web', tls })
    const before = new RawClient(await handshake(gateway, { ca: tls.cert }))
    const renewed = await selfSigned(tls.ticketKeys)
    gateway.setTls(renewed)
    assert.equal(await get(gateway, '/new', renewed), '["/new","https"]')
    await assert.rejects(get(gateway, '/new', tls), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    before.write('GET /old HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    assert.match(await before.closed(), /"\/old"/)
  })

  it('error responses are the same as over plain HTTP', async () => {
    const services = { web, hangup: (_, res) => void res.destroy(), never: () => {} } satisfies Record<
      string,
      RequestListener
    >
    await using gateway = await TestGateway.start({
      services,
      limits: { maxHeaderSize: 1000, responseTimeout: 100 },
      tls,
    })
    // Handshakes must have ended by then, too.
    await using hasty = await TestGateway.start({ services, limits: { headerTimeout: 1000 }, tls })
    const status = async (sent: string, asked = gateway): Promise<string> => {
      const client = new RawClient(await handshake(asked, { ca: tls.cert }))
      client.write(sent)
      return (await client.closed()).slice(9, 12)
    }
    const host = 'HTTP/1.1\r\nHost: localhost'
    assert.deepEqual(
      await Promise.all([
        status(`GET /nothing ${host}\r\nConnection: close\r\n\r\n`),
        status(`GET /web ${host}\r\nX: ${'x'.repeat(2000)}\r\n\r\n`),
        status(`GET /web ${host}\r\n`, hasty),
        status(`GET /hangup ${host}\r\n\r\n`),
        status(`GET /never ${host}\r\n\r\n`),
      ]),
      ['404', '431', '408', '502', '504'],
    )
  })

  it('a WebSocket is forwarded', async () => {
    const server = createServer()
    new WebSocketServer({ server }).on('connection', (socket) => socket.send('hello'))
    await using gateway = await TestGateway.start({ services: { chat: server }, tls })
    const client = new WebSocket(gateway.url('/chat').replace('https', 'wss'), { ca: tls.cert })
    assert.equal(String((await once(client, 'message'))[0]), 'hello')
    client.close()
    await once(client, 'close')
  })

  it('stop answers requests in flight, ends stalled handshakes, and counts every connection once', async () => {
    const asked = Promise.withResolvers<() => void>()
    await using gateway = await TestGateway.start({
      services: { web: (_, res) => asked.resolve(() => res.end('done')) },
      entry: 'web',
      tls,
    })
    const silent = await gateway.raw()
    const busy = new RawClient(await handshake(gateway, { ca: tls.cert }))
    busy.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const answer = await asked.promise
    const stopped = gateway.stop(60_000)
    answer()
    assert.match(await busy.closed(), /connection: close\r\n[^]*done$/i)
    await stopped
    await silent.closed()
    // The native entrance shows the gateway no connection without a request.
    assert.deepEqual([gateway.cells.closed, gateway.cells.inFlight], [isNative ? 1 : 2, 0])
  })

  it('a client without TLS is rejected, and the next one is served', async () => {
    await using gateway = await TestGateway.start({ services: { web }, entry: 'web', tls })
    assert.doesNotMatch(await gateway.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'), /200/)
    assert.equal(await get(gateway, '/', tls), '["/","https"]')
  })
})

async function get(gateway: TestGateway, path: string, { cert }: TestTls): Promise<string> {
  const outgoing = httpsRequest(gateway.url(path), { ca: cert, agent: false }).end()
  const [response] = await once(outgoing, 'response')
  return text(response as NodeJS.ReadableStream)
}

async function handshake(gateway: TestGateway, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', servername: 'localhost', ...options })
  await once(socket, 'secureConnect')
  return socket
}

/** TLS 1.3 sends its tickets after the handshake, at the latest with the first response. */
async function sessionOf(gateway: TestGateway, options: ConnectionOptions): Promise<Buffer> {
  const socket = await handshake(gateway, options)
  const session = socket.getProtocol() === 'TLSv1.2' ? [socket.getSession()] : once(socket, 'session')
  socket.resume().write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [ticket] = (await session) as [Buffer]
  socket.destroy()
  return ticket
}

async function resumes(gateway: TestGateway, options: ConnectionOptions): Promise<boolean> {
  const socket = await handshake(gateway, options)
  const reused = socket.isSessionReused()
  socket.destroy()
  return reused
}
