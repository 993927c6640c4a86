import { createServer } from 'node:http'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

await sleep(30)
const server = createServer((_, res) =>
  res.end(JSON.stringify({ hello: 'top-level-await', port: server.address().port })),
)
server.listen(0)
await once(server, 'listening')
