/**
 * The server of every entry: a request to `/ipc` calls each service once, one to `/calls` calls one
 * of them 64 times at once. It is answered with `{"success":true}` if all calls succeed.
 */
import Fastify, { type FastifyReply } from 'fastify'
import type { Call } from './clients.ts'

const together = 64
const answer = { type: 'object', properties: { success: { type: 'boolean' } } }
const schema = { response: { 200: answer, 502: answer } }

export async function serveEntry(calls: readonly Call[]): Promise<void> {
  const app = Fastify()
  // Over HTTP it is plain `node:http`. The first is Fastify.
  const one = calls[1]!

  app.get('/ipc', { schema }, async (_request, reply) => {
    const answers = await Promise.all(calls.map((call) => call()))
    return resultOf(answers, reply)
  })
  app.get('/calls', { schema }, async (_request, reply) => {
    const answers = await Promise.all(Array.from({ length: together }, () => one()))
    return resultOf(answers, reply)
  })
  await app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' })
}

function resultOf(answers: readonly boolean[], reply: FastifyReply): object {
  if (answers.every(Boolean)) return { success: true }
  return reply.code(502).send({ success: false })
}
