import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import net, { connect, Socket } from 'node:net'
import { describe, test } from 'node:test'
import { MemorySocket } from '../../../src/accelerators/stream/memory-socket.ts'
import { unless } from '../../support/accelerated.ts'
import { ByteMesh } from '../../support/byte-mesh.ts'

const skip = unless('stream')
const where = { host: 'catalog.internal', port: 80 }

describe('a connection in memory', { skip }, () => {
  test('is what net.connect() returns, and http.Agent has, and a net.Socket', async () => {
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

  test('is not what a socket becomes that its client has made, nor one that reads into a buffer of his', async () => {
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

  test('counts what is written, whether it has left or waits', async () => {
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
