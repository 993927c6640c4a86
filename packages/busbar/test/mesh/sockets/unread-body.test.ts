import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'

const size = 3_000_000
const body = Buffer.alloc(size)
const head = `POST / HTTP/1.1\r\nHost: catalog.internal\r\nContent-Length: ${size}\r\n\r\n`

/** How the first bytes reach the private socket. A socket of the client's own always uses it. */
const arrivals: Record<string, (socket: Socket) => Promise<unknown>> = {
  'with the start of its connection': async (socket) => socket.write(Buffer.concat([Buffer.from(head), body])),
  'after the start of its connection': async (socket) => {
    await once(socket, 'connect')
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    socket.write(Buffer.concat([Buffer.from(head), body]))
  },
  'after its head': async (socket) => {
    socket.write(head)
    await once(socket, 'connect')
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    socket.write(body)
  },
}

for (const [when, send] of Object.entries(arrivals))
  test(`a body that arrives ${when} waits in the client if its service does not read it`, async () => {
    const unread: IncomingMessage[] = []
    // The first bytes that a server gets fill a request of this size.
    const program = createServer({ highWaterMark: 16_384 }, (request, response) => {
      if (request.method === 'POST') unread.push(request)
      else response.end('answer')
    })
    await using _mesh = new ByteMesh({ catalog: program })
    const sockets = Array.from({ length: 20 }, () => new Socket().on('error', () => {}))
    for (const socket of sockets) {
      socket.connect(80, 'catalog.internal')
      await send(socket)
    }
    while (unread.length < sockets.length) await once(program, 'request')
    for (let call = 0; call < 30; call++) {
      const [response] = (await once(get('http://catalog.internal/', { agent: false }), 'response')) as [
        IncomingMessage,
      ]
      assert.equal(await text(response), 'answer')
    }
    for (const request of unread) assert.ok(request.readableLength < size / 4, `${request.readableLength} bytes`)
    for (const socket of sockets) socket.destroy()
  })
