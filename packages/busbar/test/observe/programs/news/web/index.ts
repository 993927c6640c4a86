import { createServer } from 'node:http'
import { publisher } from 'busbar/client'
import { mail } from '../mail/contract.ts'

const events = publisher(mail)

createServer(async (_, response) => {
  response.end(JSON.stringify(await events.placed.emit({ id: 1 })))
}).listen(3000)
