// Answers in two parts, each after a while.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

createServer(async (_request, response) => {
  await sleep(200)
  response.write('late ')
  await sleep(200)
  response.end('settings')
}).listen(process.env.PORT ?? 3000)
