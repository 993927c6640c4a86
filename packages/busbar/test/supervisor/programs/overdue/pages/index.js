// Keeps its thread busy for as many milliseconds as the path says, whatever becomes of the request.
import { createServer } from 'node:http'

createServer((request, response) => {
  const end = performance.now() + Number(request.url.slice(1))
  while (performance.now() < end);
  response.end('done')
}).listen(3000)
