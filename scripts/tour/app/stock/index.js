// The service that the tour moves, kills and reloads. Nothing in it knows where it runs.
import { createServer } from 'node:http'

createServer((_, response) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ items: 7 }))
}).listen(3001)
