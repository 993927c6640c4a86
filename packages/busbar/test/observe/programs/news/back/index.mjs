import { createServer } from 'node:http'

createServer((req, res) => res.end(JSON.stringify({ traceparent: req.headers.traceparent }))).listen(3000)
