/** Accepts an upgrade, refuses it, or closes the connection without an answer. */
import { createServer } from 'node:http'

createServer()
  .on('upgrade', ({ url }, socket) => {
    if (url === '/accept')
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
    if (url === '/refuse') socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
    if (url === '/close') socket.destroy()
  })
  .listen(process.env.PORT ?? 3000)
