import { createServer } from 'node:http'

createServer((_req, res) => res.writeHead(404).end()).listen(3002)
