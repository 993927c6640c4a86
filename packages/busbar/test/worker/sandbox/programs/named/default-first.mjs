import { createServer } from 'node:http'

export const server = createServer((_req, res) => res.end(JSON.stringify({ hello: 'the named one' })))
export default (_req, res) => res.end(JSON.stringify({ hello: 'default-first' }))
