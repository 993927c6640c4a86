import { createServer } from 'node:http'

createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const timer = setInterval(() => response.write('data: x\n\n'), 10)
  response.on('close', () => clearInterval(timer))
}).listen(0)
