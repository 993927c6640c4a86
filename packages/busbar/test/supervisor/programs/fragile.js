// Does not start while there is the file that its environment names; ends when it is told to.
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'

if (existsSync(process.env.BROKEN)) throw new Error('there is the file')
createServer((request, response) => {
  if (request.url === '/die') process.exit(3)
  response.end('stock')
}).listen(3000)
