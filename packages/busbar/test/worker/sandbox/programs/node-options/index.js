import { createServer } from 'node:http'

const { imported, required } = globalThis
createServer((_, res) => {
  res.end(JSON.stringify({ imported, required, file: process.env.FROM_FILE, both: process.env.FROM_BOTH }))
}).listen(3000)
