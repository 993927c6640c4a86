import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { RequestWrites } from '../../../src/mesh/sockets/request-writes.ts'

const get = 'GET /a HTTP/1.1\r\nhost: a\r\nConnection: keep-alive, TE\r\nTE: trailers\r\n\r\n'
const closing = 'GET /a HTTP/1.1\r\nconnection: close, TE\r\nhost: a\r\nTE: trailers\r\n\r\n'
const post = 'POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n'
const upgrade = 'GET /a HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'

/**
 * What reaches the server of texts that a client writes, each after a response to the one before.
 */
function written(...texts: readonly (string | readonly string[])[]): string[] {
  const sent: string[] = []
  const socket = { bytesRead: 0, write: (data: string | Uint8Array) => sent.push(Buffer.from(data).toString('latin1')) }
  const requests = new RequestWrites(socket as unknown as Socket)
  for (const [at, text] of texts.entries()) {
    if (at === 1) requests.end()
    for (const part of [text].flat()) (socket as unknown as Socket).write(at % 2 === 0 ? part : Buffer.from(part))
    socket.bytesRead += 10
  }
  return sent
}

test('each request after the end says that the connection closes', () => {
  assert.deepEqual(written(get, get, get), [get, closing, closing])
  const closed = post.replace('\r\n', '\r\nconnection: close\r\n')
  assert.deepEqual(written(get, [post, '\r\n1\r\nx\r\n', '0\r\n\r\n']), [get, closed, '\r\n1\r\nx\r\n', '0\r\n\r\n'])
})

for (const [what, texts] of Object.entries({
  'of a client that writes requests before it has responses': [[get, get], get],
  'of several requests in one write': [get, get + get, get],
  'of an upgrade': [upgrade, get],
  'that ask for an upgrade': [get, upgrade],
  'of HTTP/2': [get, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  'of other protocols': ['EHLO a\r\n', 'MAIL FROM\r\n'],
}))
  test(`writes stay as they are ${what}`, () => {
    assert.deepEqual(written(...texts), texts.flat())
  })
