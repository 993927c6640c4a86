/**
 * The caller of typed services, whose names are in `SERVICES` (a JSON list). Otherwise like
 * `../entry.ts`.
 */
import { client } from 'busbar/client'
import Fastify from 'fastify'
import { leaf } from './leaf/contract.ts'

const names = JSON.parse(process.env['SERVICES'] ?? '[]') as string[]
const leaves = names.map((service) => client(leaf, undefined, { service }))
const app = Fastify()
const answer = { type: 'object', properties: { success: { type: 'boolean' } } }
const response = { 200: answer, 502: answer }

app.get('/ipc', { schema: { response } }, async (_request, reply) => {
  const answers = await Promise.all(leaves.map(async ({ live }) => (await live()).content.length > 0))
  if (answers.every(Boolean)) return { success: true }
  return reply.code(502).send({ success: false })
})
await app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' })
