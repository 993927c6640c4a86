// Listens as soon as a file does not exist.
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'

while (existsSync(process.env.LATE)) await new Promise((resolve) => setTimeout(resolve, 20))
createServer((request, response) => {
  if (request.url === '/exit') process.exit(7)
  response.end('served')
}).listen(3000)
