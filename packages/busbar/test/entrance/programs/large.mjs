// Responds with more than any buffer between it and its client has room for.
import { createServer } from 'node:http'

const large = Buffer.alloc(32 * 1024 * 1024, 'abcdefghijk')
let finished = 0

createServer((request, response) => {
  if (request.url?.endsWith('/finished')) return response.end(String(finished))
  response.on('finish', () => finished++)
  if (request.url?.endsWith('/chunks')) response.write(large.subarray(0, 1))
  response.end(large)
}).listen(process.env.PORT)
