// Needs `api` while it starts, and for every answer.
import { createServer } from 'node:http'
import { randomInt } from 'node:crypto'

/** Of this thread alone: to what it hosts, every thread of Busbar's is a main thread with the number 0. */
const threadKey = (globalThis.threadKey ??= randomInt(2 ** 32))

const first = await (await fetch('http://api.internal/first')).json()

createServer(async (request, response) => {
  const answer = await fetch(`http://api.internal${request.url}`, { method: 'POST', body: 'x'.repeat(100_000) })
  const body = JSON.stringify({ first, second: await answer.json() })
  const where = { web: `${process.pid}:${threadKey}`, api: answer.headers.get('x-where') }
  response.writeHead(200, { 'content-type': 'application/json', 'x-places': JSON.stringify(where) }).end(body)
}).listen(3000)
