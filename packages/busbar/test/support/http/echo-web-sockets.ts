import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { WebSocket, WebSocketServer } from 'ws'

/** Makes a server send the messages of WebSockets back, as text. */
export function echoWebSockets(server: Server): void {
  new WebSocketServer({ server }).on('connection', (socket) => {
    socket.on('message', (data) => socket.send(data, { binary: false }))
  })
}

/** A message to `url` comes back, and the connection closes. */
export async function assertEchoes(url: string): Promise<void> {
  const client = new WebSocket(url)
  await once(client, 'open')
  client.send('echo')
  assert.equal(String((await once(client, 'message'))[0]), 'echo')
  client.close()
  await once(client, 'close')
}
