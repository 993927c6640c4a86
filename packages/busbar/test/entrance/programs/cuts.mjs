// Breaks its response off: `/at-once` in the tick in which it has begun it, `/later` after that.
import { createServer } from 'node:http'

createServer((request, response) => {
  response.writeHead(200, { 'content-length': 9 }).write('half')
  if (request.url === '/at-once') response.destroy()
  else setTimeout(() => response.destroy(), 50)
}).listen(process.env.PORT ?? 0)
