// Answers requests by asking the catalog, and echoes the messages of WebSockets.
import { createServer, request } from 'node:http'
import { WebSocketServer } from 'ws'

let handled = 0
const server = createServer((req, res) => {
  if (req.url === '/exit') return busyUntilExit()
  handled++
  const call = request('http://catalog.internal/', (answer) => answer.resume().on('end', () => res.end('ok')))
  call.on('error', () => res.writeHead(500).end('no catalog'))
  call.end()
})
new WebSocketServer({ server }).on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
})
server.listen(3000)

function busyUntilExit() {
  const end = performance.now() + 20
  while (performance.now() < end);
  process.exit(1)
}
