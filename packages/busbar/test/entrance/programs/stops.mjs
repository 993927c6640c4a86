// Answers `/slow` some time after it has said that it began. `/keeps` asks to keep the connection.
import { createServer } from 'node:http'

const kept = { Connection: 'keep-alive' }

const server = createServer((request, response) => {
  const answer = () => response.end('answered')
  if (request.url === '/keeps') response.writeHead(200, kept)
  if (request.url === '/keeps/pairs') response.writeHead(200, 'Kept', [...Object.entries(kept).flat(), 'X-A', 'a'])
  if (request.url === '/keeps/set') response.setHeaders(new Map([...Object.entries(kept), ['x-a', 'a']]))
  if (request.url !== '/slow') return answer()
  console.log('begins')
  setTimeout(answer, 2000)
})
server.listen(process.env.PORT ?? 0)
