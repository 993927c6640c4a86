import { createServer } from 'node:http'

createServer((req, res) => {
  const { pathname } = new URL(req.url!, 'http://cart')
  if (pathname === '/hang-up') return void req.socket.destroy()
  if (pathname === '/exit') process.exit(1)
  res.statusCode = { '/missing': 404, '/fault': 500 }[pathname] ?? 200
  if (pathname === '/large') return void res.end(Buffer.alloc(300_000))
  req.resume().on('end', () => res.end('ok'))
}).listen(3000)
