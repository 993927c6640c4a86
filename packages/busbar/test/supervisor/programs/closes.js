// Ends as most programs do: by closing the server, which closes all connections that are idle then.
import { createServer } from 'node:http'

const server = createServer((_, response) => response.end('"hello"')).listen(3000)
process.on('SIGTERM', () => server.close(() => process.exit(0)))
