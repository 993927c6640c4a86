// Echoes the body when it has arrived completely.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

createServer(async (request, response) => {
  const body = await text(request)
  response.setHeader('content-length', Buffer.byteLength(body)).end(body)
}).listen(3000)
