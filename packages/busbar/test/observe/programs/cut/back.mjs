import { createServer } from 'node:http'

createServer(({ url, socket }, response) => {
  if (url === '/none') return void socket.destroy()
  response.writeHead(200, { 'content-length': 100 }).write('abc')
  if (url === '/cut') setTimeout(() => socket.destroy(), 5)
}).listen(3000)
