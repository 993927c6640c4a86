// Logs its stop, and calls the service that it needs once more before it.
import { createServer } from 'node:http'

const needed = process.env.NEEDS
const server = createServer((_, response) => response.end('here')).listen(3000)

process.on('SIGTERM', async () => {
  const answer = needed === undefined ? 'nobody' : await (await fetch(`http://${needed}.internal/`)).text()
  console.log(`stops, and ${needed} is ${answer}`)
  server.close()
})
