/** Answers an upgrade as the service `back` does. */
import { createServer, get } from 'node:http'

createServer()
  .on('upgrade', ({ url, headers: { upgrade } }, socket) => {
    socket.on('error', () => {})
    get(`http://back.internal${url}`, { headers: { connection: 'upgrade', upgrade } })
      .on('upgrade', (_, accepted) => {
        accepted.destroy()
        socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
      })
      .on('response', ({ statusCode }) => socket.end(`HTTP/1.1 ${statusCode} Refused\r\nconnection: close\r\n\r\n`))
      .on('error', () => socket.destroy())
  })
  .listen(3000)
