/**
 * The caller: a request to it calls four services, and is answered with `{"success":true}` if all
 * calls succeed. `WAY` selects the client, `ORIGINS` (a JSON list) the services.
 */
import Fastify from 'fastify'
import { byFetch, byHttp, byPool, byRequest, type Call } from './clients.ts'

const { WAY = 'request', PORT = '0' } = process.env
const origins = JSON.parse(process.env['ORIGINS'] ?? '[]') as string[]
const calls = await callsBy(WAY)
const app = Fastify()
const answer = { type: 'object', properties: { success: { type: 'boolean' } } }
const response = { 200: answer, 502: answer }

app.get('/ipc', { schema: { response } }, async (_request, reply) => {
  const answers = await Promise.all(calls.map((call) => call()))
  if (answers.every(Boolean)) return { success: true }
  return reply.code(502).send({ success: false })
})
await app.listen({ port: Number(PORT), host: '127.0.0.1' })

async function callsBy(way: string): Promise<Call[]> {
  if (way === 'fetch') return byFetch(origins)
  if (way === 'request') return byRequest(origins)
  if (way === 'http') return byHttp(origins)
  if (way === 'pool') return byPool(origins, Number(process.env['CONNECTIONS'] ?? 0))
  throw new Error(`there is no way "${way}"`)
}
