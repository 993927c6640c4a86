// Answers `/slow` some time after it has said that it began.
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  const answer = () => response.end('answered')
  if (request.url !== '/slow') return answer()
  console.log('begins')
  setTimeout(answer, 500)
})
server.listen(process.env.PORT ?? 0)
