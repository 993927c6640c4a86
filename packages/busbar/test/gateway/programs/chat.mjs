// A chat by socket.io, and cookies in every way in which a program can set them. Says which
// instance it is.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { Server } from 'socket.io'

const id = randomUUID()
const own = 'own=1; Path=/'
const ways = {
  none: (response) => response,
  set: (response) => response.setHeader('Set-Cookie', own),
  append: (response) => response.appendHeader('set-cookie', own),
  object: (response) => response.writeHead(200, { 'Set-Cookie': own, 'x-way': 'object' }),
  objectOfOthers: (response) => response.setHeader('Set-Cookie', [own]).writeHead(200, 'fine', { 'x-way': 'object' }),
  list: (response) => response.writeHead(200, ['Set-Cookie', own, 'x-way', 'list']),
  listOfOthers: (response) => response.setHeader('Set-Cookie', own).writeHead(200, ['x-way', 'list']),
}
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://a')
  if (pathname === '/exit') process.exit(1)
  ways[pathname.slice(1)]?.(response)
  response.end(id)
})
new Server(server).on('connection', (socket) => {
  socket.emit('instance', id)
  socket.on('say', (text, answer) => answer(`${id} ${text}`))
})
server.listen(process.env.PORT ?? 3000)
