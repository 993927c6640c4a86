// Returns its request; echoes on a WebSocket.
import { createRequire } from 'node:module'
import { existsSync } from 'node:fs'
import http from 'node:http'

const { WebSocketServer } = createRequire(import.meta.url)('ws')
const server = http.createServer((request, response) => {
  const { url, rawHeaders, socket } = request
  const own = rawHeaders.some((name) => name.toLowerCase() === 'busbar-hops')
  const { searchParams } = new URL(url, 'http://x')
  const file = searchParams.get('until')
  const answer = { service: 'catalog', url, own, remote: socket.remoteAddress, data: process.env.DATA ?? null }
  response.setHeader('content-type', 'application/json')
  const send = () => {
    if (file !== null && !existsSync(file)) setTimeout(send, 20)
    else response.end(JSON.stringify(answer))
  }
  if (searchParams.has('head')) response.flushHeaders()
  setTimeout(send, 0)
})
new WebSocketServer({ server }).on('connection', (socket) => socket.on('message', (data) => socket.send(`["${data}"]`)))
server.listen(process.env.PORT ?? 3000)
