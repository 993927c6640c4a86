import { createReadStream } from 'node:fs'
import { failingSource } from './sources.js'

// Hono puts one of its own in its place, for all programs of a process.
const { Response } = globalThis

export async function fastifyServer(fastify) {
  const app = fastify()
  app.addHook('onSend', async (_, reply) => void reply.header('X-Hook', 'onSend'))
  const schema = { response: { 200: { type: 'object', properties: { status: { type: 'string' } } } } }
  app.get('/live', { schema }, async () => ({ status: 'ok', left: 'out' }))
  app.get('/who', async ({ ip, hostname, protocol }) => ({ ip, hostname, protocol }))
  app.get('/stream', (_, reply) => reply.type('text/plain').send(createReadStream(new URL(import.meta.url))))
  app.get('/failing-stream', (_, reply) => reply.send(failingSource()))
  app.get('/buffer', (_, reply) => reply.send(Buffer.from('bytes')))
  app.get('/hijack', (_, reply) => {
    reply.hijack()
    reply.raw.end('raw')
  })
  app.get('/trailer', (_, reply) => reply.trailer('etag', async () => 'z').send({ a: 1 }))
  app.get('/web', async () => new Response('web', { status: 201, headers: { 'x-w': '1' } }))
  app.get('/web-stream', async () => new Response(new Blob(['a', 'b']).stream()))
  app.get('/throws', async () => {
    throw Object.assign(new Error('why'), { statusCode: 418 })
  })
  app.get('/redirect', (_, reply) => reply.redirect('/live'))
  app.get('/cookies', (_, reply) => reply.header('set-cookie', 'a=1').header('set-cookie', 'b=2').send('x'))
  app.get('/empty', (_, reply) => reply.code(204).send())
  app.post('/body', async ({ body }) => body)
  const wanted = { type: 'object', required: ['a'], properties: { a: { type: 'number' } } }
  app.post('/checked', { schema: { body: wanted } }, async ({ body }) => body)
  await app.ready()
  return app.server
}
