/**
 * The service that fans out: a request to it asks four others and answers `{"success":true}` when all four answered
 * well. `WAY` says how it asks, `ORIGINS` (a JSON list) whom.
 */
import Fastify from 'fastify'
import { byFetch, byHttp, byPool, byRequest, type Ask } from './ways.ts'

const { WAY = 'request', PORT = '0' } = process.env
const origins = JSON.parse(process.env['ORIGINS'] ?? '[]') as string[]
const asks = await waysOf(WAY)
const app = Fastify()
const answer = { type: 'object', properties: { success: { type: 'boolean' } } }
const response = { 200: answer, 502: answer }

app.get('/ipc', { schema: { response } }, async (_request, reply) => {
  const answers = await Promise.all(asks.map((ask) => ask()))
  if (answers.every(Boolean)) return { success: true }
  return reply.code(502).send({ success: false })
})
await app.listen({ port: Number(PORT), host: '127.0.0.1' })

async function waysOf(way: string): Promise<Ask[]> {
  if (way === 'fetch') return byFetch(origins)
  if (way === 'request') return byRequest(origins)
  if (way === 'http') return byHttp(origins)
  if (way === 'pool') return byPool(origins, Number(process.env['CONNECTIONS'] ?? 0))
  throw new Error(`there is no way "${way}"`)
}
