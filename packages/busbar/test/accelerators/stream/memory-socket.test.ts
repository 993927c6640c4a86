import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, get } from 'node:http'
import net, { connect, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MemorySocket } from '../../../src/accelerators/stream/memory-socket.ts'
import { closeIfIdle } from '../../../src/mesh/http/exchange.ts'
import { unless } from '../../support/mesh/accelerators.ts'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'

const skip = unless('stream')
const where = { host: 'catalog.internal', port: 80 }

describe('a connection in memory', { skip }, () => {
  test('is a net.Socket, returned by net.connect() and used by http.Agent', async () => {
    const program = createServer(
      (request, response) => void response.end(String(request.socket instanceof MemorySocket)),
    )
    await using _mesh = new ByteMesh({ catalog: program })
    for (const open of [net.connect, net.createConnection, connect]) {
      const socket = open(where)
      assert.ok(socket instanceof MemorySocket && socket instanceof Socket)
      const received = socket.toArray()
      socket.write('GET / HTTP/1.0\r\n\r\n')
      assert.match(Buffer.concat(await received).toString(), /true$/)
    }
  })

  test('is not used for a socket that the client has created, or with a read buffer of the client', async () => {
    await using _mesh = new ByteMesh({ catalog: (_request, response) => void response.end('answer') })
    let text = ''
    const onread = {
      buffer: Buffer.alloc(1024),
      callback: (length: number, buffer: Uint8Array) => {
        text += Buffer.from(buffer.subarray(0, length)).toString()
        return true
      },
    }
    for (const socket of [new Socket({ onread }).connect(where), connect({ ...where, onread })]) {
      assert.equal(socket instanceof MemorySocket, false)
      socket.write('GET / HTTP/1.0\r\n\r\n')
      await once(socket, 'close')
      assert.match(text, /answer$/)
      text = ''
    }
  })

  test('completes writes of a client once it is connected', async () => {
    await using _mesh = new ByteMesh({ catalog: (_request, response) => void response.end('answer') })
    const client = connect(where)
    const events: string[] = []
    client.once('connect', () => events.push('connect'))
    client.write('GET / HTTP/1.0\r\n\r\n', () => events.push('written'))
    await client.toArray()
    assert.deepEqual(events, ['connect', 'written'])
  })

  for (const overLink of [false, true])
    test(`is closed by its client when the server asks, unless a request is on its way${overLink ? ' (over a link)' : ''}`, async () => {
      const sockets: (Socket & { [closeIfIdle](): void })[] = []
      const program = createServer((_request, response) => void response.end('answer'))
      program.on('connection', (socket: MemorySocket) => sockets.push(socket))
      await using _mesh = new ByteMesh({ catalog: program }, { overLink })
      using agents = new DisposableStack()
      const agent = agents.adopt(new Agent({ keepAlive: true }), (one) => one.destroy())
      const ask = (): Promise<string> =>
        new Promise((resolve, reject) => {
          get({ ...where, agent }, (response) => void text(response).then(resolve, reject)).once('error', reject)
        })
      assert.equal(await ask(), 'answer')
      await untilFree(agent)
      const [server] = sockets
      const onItsWay = ask()
      // Before the request's bytes arrive.
      server![closeIfIdle]()
      assert.equal(await onItsWay, 'answer')
      await untilFree(agent)
      assert.equal(sockets.length, 1, 'the connection was kept')
      server![closeIfIdle]()
      while (!server!.destroyed) await nextTurn()
      assert.equal(await ask(), 'answer')
      assert.equal(sockets.length, 2)
    })

  test('counts written bytes, sent or waiting', async () => {
    const opened = Promise.withResolvers<Socket>()
    const program = createServer().on('upgrade', (_request, socket: Socket) => opened.resolve(socket))
    await using _mesh = new ByteMesh({ catalog: program })
    const client = connect(where)
    const head = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
    client.write(head)
    const server = await opened.promise
    const size = 4 * 1024 * 1024
    client.write(Buffer.alloc(size))
    client.write(Buffer.alloc(10))
    assert.equal(client.bytesWritten, head.length + size + 10)
    server.resume()
    while (server.bytesRead < head.length + size + 10) await once(server, 'data')
    assert.equal(client.bytesWritten, head.length + size + 10)
    client.destroy()
    await once(client, 'close')
    assert.equal(client.bytesWritten, head.length + size + 10)
    server.destroy()
  })
})

/** An agent keeps a connection once its request is over. */
async function untilFree(agent: Agent): Promise<void> {
  while (Object.keys(agent.freeSockets).length === 0) await nextTurn()
}
