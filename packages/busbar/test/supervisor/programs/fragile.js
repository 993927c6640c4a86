// Fails to start while the file named in its environment exists; exits on request.
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'

if (existsSync(process.env.BROKEN)) throw new Error('there is the file')
createServer((request, response) => {
  if (request.url === '/die') process.exit(3)
  response.end('stock')
}).listen(3000)
