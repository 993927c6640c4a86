/**
 * Upper bounds in one process without a mesh: `light-my-request` (`MODE=inject`) and plain
 * functions.
 */
import http, { type RequestListener } from 'node:http'
import Fastify from 'fastify'
import inject from 'light-my-request'
import type { Call } from './clients.ts'
import { serveEntry } from './serve-entry.ts'

await serveEntry(process.env['MODE'] === 'inject' ? await injected() : direct())

async function injected(): Promise<Call[]> {
  const first = Fastify()
  const response = { 200: { type: 'object', properties: { status: { type: 'string' } } } }
  first.get('/live', { schema: { response } }, async () => ({ status: 'ok' }))
  await first.ready()
  let count = 0
  const listener: RequestListener = (request, answer) => {
    answer.setHeader('content-type', 'application/json')
    answer.end(JSON.stringify({ content: `from "${request.url}": ${count++ % 10}` }))
  }
  const servers = [1, 2, 3].map(() => http.createServer(listener).listeners('request')[0] as RequestListener)
  return [
    async () => (await first.inject('/live')).statusCode === 200,
    ...servers.map((server) => async () => (await inject(server, '/live')).statusCode === 200),
  ]
}

function direct(): Call[] {
  let count = 0
  const live = async () => ({ content: `from "/live": ${count++ % 10}` })
  return Array.from({ length: 4 }, () => async () => (await live()).content.length > 0)
}
