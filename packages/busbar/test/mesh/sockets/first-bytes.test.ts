import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { readFirstLine } from '../../../src/mesh/sockets/first-bytes.ts'

test('a first line that came while this thread was busy counts', async () => {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const connected = once(client, 'connect')
  const [socket] = (await once(server, 'connection')) as [Socket]
  await connected
  const line = readFirstLine(socket, 128, 300)
  client.write('first\nsecond\n')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  const read = [await line, String(socket.read())]
  client.destroy()
  socket.destroy()
  assert.deepEqual(read, ['first', 'second\n'])
})
