// A service of an app: says where it runs, and does what its path says.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

const { SERVICE = 'service' } = process.env
/** Of this copy. */
const id = randomUUID()
/** Of a response without a length that is not complete. */
let partial
const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://a')
  if (pathname === '/loop') for (;;);
  if (pathname === '/exit') process.exit(1)
  if (pathname === '/never') return
  if (pathname === '/late') await new Promise((resolve) => setTimeout(resolve, 600))
  if (pathname === '/seen') {
    const { remoteAddress, localPort, encrypted, alpnProtocol } = request.socket
    const socket = { remoteAddress, localPort, encrypted: encrypted ?? null, alpnProtocol: alpnProtocol ?? null }
    return response.end(
      JSON.stringify({ service: SERVICE, rawHeaders: request.rawHeaders, url: request.url, ...socket }),
    )
  }
  if (pathname === '/stream') {
    response.writeHead(200, 'Fine', { 'x-one': '1', connection: 'x-two', 'x-two': '2', trailer: 'x-end' })
    response.write('one')
    response.addTrailers({ 'x-end': '3' })
    return response.end('two')
  }
  if (pathname === '/none') return response.writeHead(204).end()
  if (pathname === '/until-end') {
    response.useChunkedEncodingByDefault = false
    response.removeHeader('transfer-encoding')
    return response.end('until the end')
  }
  if (pathname === '/large') return response.end(Buffer.alloc(5_000_000))
  if (pathname === '/part') {
    partial = request.socket
    return partial.write('HTTP/1.1 200 OK\r\n\r\npart')
  }
  if (pathname === '/reset') {
    partial.resetAndDestroy()
    return response.end()
  }
  if (pathname === '/identity') {
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nConnection: close\r\n\r\n'
    return request.socket.end(`${head}until the end`)
  }
  if (pathname === '/garbage') return request.socket.end('garbage\r\n\r\n')
  let length = 0
  for await (const chunk of request) length += chunk.length
  response.end(`${SERVICE} ${request.method} ${length} ${id}`)
})
server.on('upgrade', (request, socket, head) => {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  socket.write(head)
  socket.on('error', () => {}).pipe(socket)
})
server.listen(process.env.PORT ?? 3000)
