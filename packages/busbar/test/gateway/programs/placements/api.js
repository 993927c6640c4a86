// Answers in every manner there is; a WebSocket gets its own words back.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'

const answers = {
  async '/hash'(request, response) {
    const hash = createHash('sha1')
    for await (const chunk of request) hash.update(chunk)
    response.setHeader('x-length', request.headers['content-length'] ?? 'none')
    response.end(hash.digest('hex'))
  },
  async '/stream'(_request, response) {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    response.setHeader('trailer', 'x-sum')
    for (let n = 0; n < 5; n++) {
      response.write(`line ${n}\n`)
      await sleep(2)
    }
    response.addTrailers({ 'x-sum': '5' })
    response.end()
  },
  '/large'(_request, response) {
    response.end(Buffer.alloc(3_000_000, 'large '))
  },
  '/half'(_request, response) {
    response.write('half', () => response.destroy())
  },
  '/none'(_request, response) {
    response.destroy()
  },
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://api')
  const answer = answers[pathname] ?? ((_, response) => void response.writeHead(404).end('no such path'))
  // Who asked may be gone by then.
  Promise.resolve(answer(request, response)).catch(() => response.destroy())
})
new WebSocketServer({ server }).on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
})
server.listen(3000)
