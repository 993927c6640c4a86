// Listens where it is told to: hosted as a module, or as a command on its PORT.
import { createServer } from 'node:http'
import { threadId } from 'node:worker_threads'

const server = createServer((request, response) => {
  let size = 0
  request.on('data', (chunk) => (size += chunk.length))
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.setHeader('x-where', `${process.pid}:${threadId}`)
    response.end(JSON.stringify({ method: request.method, url: request.url, size }))
  })
})
server.listen(Number(process.env.API_PORT ?? process.env.PORT ?? 3000), '127.0.0.1')
