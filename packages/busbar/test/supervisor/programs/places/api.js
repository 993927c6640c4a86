// Listens where it is told to: hosted as a module, or as a command on its PORT.
import { createServer } from 'node:http'
import { randomInt } from 'node:crypto'

/** Of this thread alone: to what it hosts, every thread of Busbar's is a main thread with the number 0. */
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
