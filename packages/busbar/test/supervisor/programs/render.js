// Answers when it is told to, and says how many requests it has at a time.
import { createServer } from 'node:http'
import { randomInt } from 'node:crypto'

/** Of this thread alone: to what it hosts, every thread of Busbar's is a main thread with the number 0. */
const threadKey = (globalThis.threadKey ??= randomInt(2 ** 32))

let inside = 0
let most = 0

createServer(async (request, response) => {
  if (request.url === '/most') return response.end(JSON.stringify({ most }))
  most = Math.max(most, ++inside)
  await new Promise((resolve) => setTimeout(resolve, Number(new URL(request.url, 'http://any').searchParams.get('ms'))))
  inside--
  response.end(JSON.stringify({ most, thread: threadKey, pid: process.pid }))
}).listen(3000)
