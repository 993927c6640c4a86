import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'

const server = createServer((_, res) => res.end('{}'))
new WebSocketServer({ server }).on('connection', (socket) => {
  socket.on('message', (data) => socket.send(`${process.env.NAME} got ${data}`))
})
server.listen(3000)
