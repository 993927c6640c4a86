// Calls `api` while it starts, and for every response.
import { createServer } from 'node:http'
import { randomInt } from 'node:crypto'

/** Unique to this thread: for programs, every thread of Busbar is the main thread with ID 0. */
const threadKey = (globalThis.threadKey ??= randomInt(2 ** 32))

const first = await (await fetch('http://api.internal/first')).json()

createServer(async (request, response) => {
  const answer = await fetch(`http://api.internal${request.url}`, { method: 'POST', body: 'x'.repeat(100_000) })
  const body = JSON.stringify({ first, second: await answer.json() })
  const where = { web: `${process.pid}:${threadKey}`, api: answer.headers.get('x-where') }
  response.writeHead(200, { 'content-type': 'application/json', 'x-places': JSON.stringify(where) }).end(body)
}).listen(3000)
