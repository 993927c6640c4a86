// Answers when it is told to, and says how many requests it has at a time.
import { createServer } from 'node:http'
import { threadId } from 'node:worker_threads'

let inside = 0
let most = 0

createServer(async (request, response) => {
  if (request.url === '/most') return response.end(JSON.stringify({ most }))
  most = Math.max(most, ++inside)
  await new Promise((resolve) => setTimeout(resolve, Number(new URL(request.url, 'http://any').searchParams.get('ms'))))
  inside--
  response.end(JSON.stringify({ most, thread: threadId, pid: process.pid }))
}).listen(3000)
