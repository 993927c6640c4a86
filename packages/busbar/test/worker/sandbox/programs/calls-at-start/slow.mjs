// Answers in two parts, each after a while.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

createServer(async (request, response) => {
  if (request.url === '/never') return console.log('was asked')
  await sleep(200)
  response.write('late ')
  await sleep(200)
  response.end('settings')
}).listen(process.env.PORT ?? 3000)
