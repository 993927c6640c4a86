// Begins a response and gives its connection up when the client has got some of it.
import { createServer } from 'node:http'

/** By the names of their requests. */
const begun = {}

const acts = {
  reset: (socket) => socket.resetAndDestroy(),
  destroy: (socket) => socket.destroy(),
  fail: (socket) => socket.destroy(new Error('why')),
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://a')
  const [id, how] = [searchParams.get('id'), searchParams.get('how')]
  const { socket } = request
  if (pathname.endsWith('/act')) {
    acts[how](begun[id])
    return response.end()
  }
  begun[id] = socket.on('error', () => {})
  if (pathname.endsWith('/malformed'))
    return socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n')
  if (pathname.endsWith('/raw')) return socket.write('HTTP/1.1 200 OK\r\n\r\npart')
  response.useChunkedEncodingByDefault = false
  response.write('part')
})
server.on('upgrade', (request, socket) => {
  begun[new URL(request.url, 'http://a').searchParams.get('id')] = socket.on('error', () => {})
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\npart')
})
server.listen(process.env.PORT ?? 3000)
