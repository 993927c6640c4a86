import fastify from 'fastify'
import { askByName, askOverTcp, askOverTls, PeerError } from './peers.ts'

const success = {
  type: 'object',
  properties: { success: { type: 'boolean' } },
  required: ['success'],
}
const failure = {
  type: 'object',
  properties: { success: { type: 'boolean' }, failed: { type: 'string' }, reason: { type: 'string' } },
  required: ['success', 'failed', 'reason'],
}
const schema = { response: { 200: success, 502: failure } }

const app = fastify()

app.get('/live', async () => ({ status: 'ok', service: 'tsfastify' }))

for (const [path, ask] of [
  ['/ipc', askByName],
  ['/tcp', askOverTcp],
  ['/ssl', askOverTls],
] as const)
  app.get(path, { schema }, async () => {
    await ask()
    return { success: true }
  })

app.setErrorHandler((error, _request, reply) => {
  if (!(error instanceof PeerError)) throw error
  return reply.code(502).send({ success: false, failed: error.service, reason: error.message })
})

await app.listen({ port: Number(process.env['PORT'] ?? 3100) })
