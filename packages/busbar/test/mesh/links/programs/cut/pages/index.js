// The first request of each verb waits for ever; `/counts` says how often each was begun.
import { createServer } from 'node:http'

const counts = { GET: 0, POST: 0 }

createServer((request, response) => {
  if (request.url === '/counts') return response.end(JSON.stringify(counts))
  if (++counts[request.method] > 1) return response.end('done')
  console.log(`holds ${request.method}`)
}).listen(3000)
