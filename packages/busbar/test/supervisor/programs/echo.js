// Answers with what it was sent, when it has all of it.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

createServer(async (request, response) => {
  const body = await text(request)
  response.setHeader('content-length', Buffer.byteLength(body)).end(body)
}).listen(3000)
