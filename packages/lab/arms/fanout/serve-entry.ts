/**
 * The server of every entry: a request to `/ipc` calls each service once, one to `/calls` calls one
 * of them `count` times at once. It is answered with `{"success":true}` if all calls succeed.
 */
import Fastify, { type FastifyReply } from 'fastify'
import type { Call } from './clients.ts'

const answer = { type: 'object', properties: { success: { type: 'boolean' } } }
const schema = { response: { 200: answer, 502: answer } }
const querystring = {
  type: 'object',
  properties: { count: { type: 'integer', minimum: 1, maximum: 10_000 } },
  required: ['count'],
}

export async function serveEntry(calls: readonly Call[]): Promise<void> {
  const app = Fastify()
  // Over HTTP it is plain `node:http`. The first is Fastify.
  const one = calls[1]!

  app.get('/ipc', { schema }, async (_request, reply) => {
    const answers = await Promise.all(calls.map((call) => call()))
    return resultOf(answers, reply)
  })
  app.get<{ Querystring: { count: number } }>(
    '/calls',
    { schema: { ...schema, querystring } },
    async ({ query }, reply) => {
      const answers = await Promise.all(Array.from({ length: query.count }, () => one()))
      return resultOf(answers, reply)
    },
  )
  await app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' })
}

function resultOf(answers: readonly boolean[], reply: FastifyReply): object {
  if (answers.every(Boolean)) return { success: true }
  return reply.code(502).send({ success: false })
}
