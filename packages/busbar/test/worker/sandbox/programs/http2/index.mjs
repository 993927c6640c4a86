import { createServer } from 'node:http2'

createServer((req, res) => res.end(JSON.stringify({ hello: 'http2', version: req.httpVersion }))).listen(3000)
