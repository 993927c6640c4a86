// Answers on request, and reports the number of concurrent requests.
import { createServer } from 'node:http'
import { randomInt } from 'node:crypto'

/** Unique to this thread: for programs, every thread of Busbar is the main thread with ID 0. */
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
