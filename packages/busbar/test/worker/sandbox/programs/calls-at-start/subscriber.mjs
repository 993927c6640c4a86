// Waits for an answer that does not come, and closes its server when it is told to stop.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'

const server = createServer((_request, response) => response.end())
server.listen(process.env.PORT ?? 3002, () => void fetch('http://slow.internal/never').catch(() => {}))
process.on('SIGTERM', () => {
  console.log(`closes ${randomBytes(1).length}`)
  server.close()
})
