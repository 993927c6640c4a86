// A server that terminates TLS itself.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

const files = { cert: readFileSync(process.env.CERT), key: readFileSync(process.env.KEY) }
createServer(files, (request, response) => {
  if (request.url === '/exit') process.exit(7)
  response.end('served')
}).listen(3000)
