// How an upgraded connection ends, as the program sees it.
import { createServer } from 'node:http'
import { finished } from 'node:stream'

const logs = {}

const server = createServer((request, response) => {
  response.end(JSON.stringify(logs[new URL(request.url, 'http://a').searchParams.get('of')] ?? []))
})
server.on('upgrade', (request, socket, head) => {
  const log = (logs[request.headers['x-id']] = [])
  let length = head.length
  socket.on('data', (bytes) => (length += bytes.length))
  socket.on('end', () => log.push(`end after ${length}`))
  socket.on('error', ({ code }) => log.push(`error ${code}`))
  socket.on('close', (hadError) => log.push(`close ${hadError}`))
  finished(socket, (error) => log.push(`finished ${error?.code ?? 'ok'}`))
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  if (request.headers['x-mode'] === 'end') socket.end('bye')
  if (request.headers['x-mode'] === 'timed') {
    socket.on('data', () => log.push('data'))
    socket.setTimeout(300).on('timeout', () => log.push('timeout'))
  }
})
server.listen(process.env.PORT ?? 3000)
