import { createServer } from 'node:http'

createServer((_, response) => response.end('legacy')).listen(3003)
