import { createServer } from 'node:http'

createServer((req, res) => res.end(JSON.stringify({ id: 1 }))).listen(3000)
