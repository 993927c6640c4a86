// Executes each POST by adding the id in its query to a file, and acknowledges it with the id. One
// whose id begins with `last` is never acknowledged: a thread ends by it, and a process waits until
// it is killed.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const { FILE, RUN } = process.env

createServer(async (request, response) => {
  const id = request.url.split('?')[1]
  await text(request)
  appendFileSync(FILE, `${id}\n`)
  if (!id.startsWith('last')) setTimeout(() => response.end(id), 5)
  else if (RUN === 'thread') process.exit(3)
  else console.log(`${id} waits in ${process.pid}.`)
}).listen(3000)
