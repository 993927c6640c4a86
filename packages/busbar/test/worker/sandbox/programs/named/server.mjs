import { createServer } from 'node:http'

export const server = createServer((_req, res) => res.end(JSON.stringify({ hello: 'server' })))
