/** Answers in all ways that a caller counts differently. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const answers = {
  '/fine': (_, response) => response.end('fine'),
  '/echo': (request, response) => request.pipe(response),
  '/none': (_, response) => response.writeHead(204).end(),
  '/same': (_, response) => response.writeHead(304, { etag: '"1"' }).end(),
  '/fail': (_, response) => response.writeHead(500).end('failed'),
  '/hints': (_, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    setTimeout(() => response.end('later'), 5)
  },
  async '/stream'(_, response) {
    for (let at = 0; at < 5; at++) {
      response.write(`${at}\n`.repeat(1000))
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    response.end()
  },
  /** Ends with its connection. */
  '/open'(_, response) {
    response.useChunkedEncodingByDefault = false
    response.removeHeader('transfer-encoding')
    response.end('all of it')
  },
  '/cut'(_, response) {
    response.writeHead(200, { 'content-length': '1000' }).write('a part')
    setTimeout(() => response.destroy(), 20)
  },
  '/close': (request) => request.socket.destroy(),
  '/begun': (_, response) => response.writeHead(200).write('a part'),
  /** Says in a file that it has the request. */
  '/hang': ({ headers }) => writeFileSync(headers['x-file'], ''),
}

const missing = (_, response) => response.writeHead(404).end()

createServer((request, response) => void (answers[request.url] ?? missing)(request, response))
  .on('upgrade', ({ url }, socket) => {
    socket.on('error', () => {})
    if (url === '/fine') {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
      socket.pipe(socket)
    } else if (url === '/refuse') socket.end('HTTP/1.1 403 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
    else socket.destroy()
  })
  .listen(process.env.PORT ?? 3000)
