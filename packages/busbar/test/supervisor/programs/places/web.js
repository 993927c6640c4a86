// Needs `api` while it starts, and for every answer.
import { createServer } from 'node:http'
import { threadId } from 'node:worker_threads'

const first = await (await fetch('http://api.internal/first')).json()

createServer(async (request, response) => {
  const answer = await fetch(`http://api.internal${request.url}`, { method: 'POST', body: 'x'.repeat(100_000) })
  const body = JSON.stringify({ first, second: await answer.json() })
  const where = { web: `${process.pid}:${threadId}`, api: answer.headers.get('x-where') }
  response.writeHead(200, { 'content-type': 'application/json', 'x-places': JSON.stringify(where) }).end(body)
}).listen(3000)
