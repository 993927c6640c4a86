// What a program may do with an upgrade instead of accepting it. The path says which.
import { createServer } from 'node:http'

const actions = {
  '/destroy': (socket) => socket.destroy(),
  '/end': (socket) => socket.end(),
  '/never': () => {},
  '/die': () =>
    setImmediate(() => {
      throw new Error('thrown on purpose')
    }),
  '/refuse': (socket) => socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno'),
}

const server = createServer((request, response) => {
  if (request.url === '/open') response.write('begun')
  else if (request.url === '/late') setTimeout(() => response.end('late'), 100)
  else response.end('plain')
})
server.on('upgrade', ({ url }, socket) => {
  socket.on('error', () => {})
  actions[url.split('?')[0]](socket)
})
server.listen(process.env.PORT ?? 3000)
