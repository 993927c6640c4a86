import { createServer } from 'node:http'

createServer((req, res) => {
  const late = createServer().listen(3001, () => {
    const { port } = late.address()
    late.close(() => res.end(JSON.stringify({ port })))
  })
}).listen(3000)
