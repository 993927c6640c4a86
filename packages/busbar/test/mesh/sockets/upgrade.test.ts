import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net, { type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { WebSocketServer, WebSocket as Ws, type RawData } from 'ws'
import { isOn } from '../../support/mesh/accelerators.ts'
import { ByteMesh, way } from '../../support/mesh/byte-mesh.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'

function echoServer(): http.Server {
  const program = http.createServer()
  new WebSocketServer({ server: program }).on('connection', (socket) => {
    socket.on('message', (data: RawData, isBinary: boolean) => socket.send(data as Buffer, { binary: isBinary }))
  })
  return program
}

describe('a WebSocket to a service', () => {
  test('by ws carries messages both ways, whatever their size', async () => {
    await using _mesh = new ByteMesh({ chat: echoServer() })
    const socket = new Ws('ws://chat.internal/room?name=x')
    await once(socket, 'open')
    for (const size of [0, 1, 125, 126, 70_000, 5_000_000]) {
      const message = Buffer.alloc(size, size % 251)
      socket.send(message)
      const [echo] = (await once(socket, 'message')) as [Buffer]
      assert.ok(message.equals(echo), `${size} bytes`)
    }
    socket.close(4000, 'enough')
    const [code] = (await once(socket, 'close')) as [number]
    assert.equal(code, 4000)
  })

  test('by the global WebSocket carries messages both ways', async () => {
    await using _mesh = new ByteMesh({ chat: echoServer() })
    const socket = new WebSocket('ws://chat.internal')
    await once(socket, 'open')
    socket.send('hello')
    const [event] = (await once(socket, 'message')) as [MessageEvent]
    assert.equal(event.data, 'hello')
    socket.close()
    await once(socket, 'close')
  })

  test('closes for the program when the caller is gone', async () => {
    const program = http.createServer()
    const server = new WebSocketServer({ server: program })
    const connected = once(server, 'connection') as Promise<[Ws]>
    await using _mesh = new ByteMesh({ chat: program })
    const socket = new Ws('ws://chat.internal')
    const [[peer]] = await Promise.all([connected, once(socket, 'open')])
    const closed = once(peer, 'close')
    socket.terminate()
    assert.equal((await closed)[0], 1006)
  })
})

describe('an upgrade by node:http', () => {
  function upgrading(onUpgrade: (socket: Socket, head: Buffer) => void): http.Server {
    const program = http.createServer()
    program.on('upgrade', (_request, socket: Socket, head: Buffer) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: bytes\r\n\r\nfirst')
      onUpgrade(socket, head)
    })
    return program
  }

  async function upgrade(): Promise<[Socket, Buffer]> {
    const headers = { connection: 'Upgrade', upgrade: 'bytes' }
    const request = http.request('http://catalog.internal', { headers })
    request.end()
    const [, socket, head] = (await once(request, 'upgrade')) as [unknown, Socket, Buffer]
    return [socket, head]
  }

  test('gives both sides a socket and early data', async () => {
    await using _mesh = new ByteMesh({ catalog: upgrading((socket) => socket.pipe(socket)) })
    const [socket, head] = await upgrade()
    assert.equal(String(head), 'first')
    socket.end('echo me')
    assert.equal(Buffer.concat(await socket.toArray()).toString(), 'echo me')
  })

  test('holds the sender when the receiver does not read', async () => {
    const sockets: Socket[] = []
    await using _mesh = new ByteMesh({ catalog: upgrading((socket) => sockets.push(socket.pause())) })
    const [socket] = await upgrade()
    let written = 0
    while (socket.write(Buffer.alloc(64 * 1024)) && written < 100) written++
    assert.ok(written < 100)
    const drained = once(socket, 'drain')
    sockets[0]!.resume()
    await drained
    socket.destroy()
  })

  test('CONNECT gives both sides a socket', async () => {
    const program = http.createServer()
    program.on('connect', (_request, socket: Socket) => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      socket.pipe(socket)
    })
    await using _mesh = new ByteMesh({ catalog: program })
    const request = http.request('http://catalog.internal', { method: 'CONNECT', path: 'a:1', agent: false })
    request.end()
    const [, socket] = (await once(request, 'connect')) as [unknown, Socket]
    socket.end('through')
    assert.equal(Buffer.concat(await socket.toArray()).toString(), 'through')
  })
})

describe('HTTP/2 without TLS', () => {
  test('reaches a program that speaks it', async () => {
    const program = http2.createServer((_request, response) => void response.end('two'))
    await using _mesh = new ByteMesh({ catalog: program as unknown as http.Server })
    const session = http2.connect('http://catalog.internal')
    const stream = session.request({ ':path': '/' })
    assert.equal(Buffer.concat(await stream.toArray()).toString(), 'two')
    session.close()
    await once(session, 'close')
  })
})

describe('a service that stops', () => {
  test('closes although callers keep idle connections, used or not', async () => {
    const agent = new http.Agent({ keepAlive: true })
    await using mesh = new ByteMesh({})
    const endpoint = new TestEndpoint('stock', (_request, response) => void response.end('ok'))
    await using stock = new ByteMesh({ catalog: endpoint.server.listeners('request')[0] as http.RequestListener })
    const request = http.get('http://catalog.internal', { agent })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    response.resume()
    await once(response, 'close')
    const unused = net.connect(80, 'catalog.internal')
    await once(unused, 'connect')
    const { server } = stock.endpoints.get('catalog')!
    const connections = await new Promise<number>((resolve, reject) => {
      server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
    })
    // With `stream` the program sees a connection on first use; Node sees a system socket before
    // that.
    assert.equal(connections, isOn('stream') ? 1 : 2)
    server.close()
    await once(server, 'close')
    unused.destroy()
    agent.destroy()
    await endpoint[Symbol.asyncDispose]()
    assert.deepEqual(mesh.router.names, [])
  })

  const skip = !isOn('stream') && 'a Unix socket that closes unused tells its client at once'

  test('resets a connection whose first bytes arrive too late', { skip }, async () => {
    await using mesh = new ByteMesh({ catalog: () => assert.fail('called') })
    const socket = net.connect(80, 'catalog.internal')
    await once(socket, 'connect')
    const { server } = mesh.endpoints.get('catalog')!
    server.close()
    await once(server, 'close')
    const failed = once(socket, 'error')
    socket.write('GET / HTTP/1.1\r\n\r\n')
    socket.resume()
    // Only the first bytes reach another app, which then says that it has not begun with them.
    const expected = way.toHost ? 'ECONNREFUSED' : 'ECONNRESET'
    assert.equal(((await failed) as [NodeJS.ErrnoException])[0].code, expected)
  })

  test('finishes requests in flight, and waits for no next one', async () => {
    const arrived = Promise.withResolvers<http.ServerResponse>()
    const program = http.createServer({ keepAliveTimeout: 0 }, (_request, response) => arrived.resolve(response))
    await using _mesh = new ByteMesh({ catalog: program })
    const agent = new http.Agent({ keepAlive: true })
    const request = http.get('http://catalog.internal', { agent })
    const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
    const response = await arrived.promise
    const closed = once(program, 'close')
    program.close()
    response.end('the last')
    const [answer] = await answered
    assert.equal(Buffer.concat(await answer.toArray()).toString(), 'the last')
    await closed
    agent.destroy()
  })

  test('times out a caller that does not finish its headers', async () => {
    const program = http.createServer({ headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 })
    await using _mesh = new ByteMesh({ catalog: program })
    const socket = net.connect(80, 'catalog.internal')
    socket.write('GET / HTTP/1.1\r\nHost: ')
    assert.match(Buffer.concat(await socket.toArray()).toString(), /^HTTP\/1\.1 408 /)
  })
})
