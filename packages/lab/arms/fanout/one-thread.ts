/**
 * Upper bounds in one process without a mesh: `light-my-request` (`MODE=inject`) and plain
 * functions.
 */
import http, { type RequestListener } from 'node:http'
import Fastify from 'fastify'
import inject from 'light-my-request'

const { MODE = 'direct', PORT = '0' } = process.env
const answer = { type: 'object', properties: { success: { type: 'boolean' } } }
const response = { 200: answer, 502: answer }
const calls = MODE === 'inject' ? await injected() : direct()
const app = Fastify()

app.get('/ipc', { schema: { response } }, async (_request, reply) => {
  const answers = await Promise.all(calls.map((call) => call()))
  if (answers.every(Boolean)) return { success: true }
  return reply.code(502).send({ success: false })
})
await app.listen({ port: Number(PORT), host: '127.0.0.1' })

async function injected(): Promise<(() => Promise<boolean>)[]> {
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

function direct(): (() => Promise<boolean>)[] {
  let count = 0
  const live = async () => ({ content: `from "/live": ${count++ % 10}` })
  return Array.from({ length: 4 }, () => async () => (await live()).content.length > 0)
}
