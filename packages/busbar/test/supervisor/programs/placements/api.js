// Listens as a hosted module, or as a command on its PORT.
import { createServer } from 'node:http'
import { randomInt } from 'node:crypto'

/** Unique to this thread: for programs, every thread of Busbar is the main thread with ID 0. */
const threadKey = (globalThis.threadKey ??= randomInt(2 ** 32))

const server = createServer((request, response) => {
  let size = 0
  request.on('data', (chunk) => (size += chunk.length))
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.setHeader('x-where', `${process.pid}:${threadKey}`)
    response.end(JSON.stringify({ method: request.method, url: request.url, size }))
  })
})
server.listen(Number(process.env.API_PORT ?? process.env.PORT ?? 3000), '127.0.0.1')
