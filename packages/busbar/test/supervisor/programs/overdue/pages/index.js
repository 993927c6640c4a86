// Keeps its thread busy for as many milliseconds as the path says, whatever becomes of the request.
import { createServer } from 'node:http'

createServer((request, response) => {
  const ms = Number(request.url.slice(1))
  // The first line after a pause leaves at once, even from a thread that is blocked then.
  if (ms > 1) console.log(`computes for ${ms}`)
  const end = performance.now() + ms
  while (performance.now() < end);
  response.end('done')
}).listen(3000)
