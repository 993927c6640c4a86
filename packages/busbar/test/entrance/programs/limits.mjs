// A server with limits of its own, which LIMITS has. `/slow` answers after the others.
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  const answer = () => response.end('answered')
  if (request.url !== '/slow') return void request.resume().on('end', answer)
  console.log('begins')
  setTimeout(answer, 2000)
})
Object.assign(server, JSON.parse(process.env.LIMITS))
server.listen(process.env.PORT ?? 0)
