import fastify from 'fastify'
import { certificate } from '../certificate.js'

function build(options) {
  const app = fastify(options)
  app.get('/live', async () => ({ status: 'ok', service: 'fastify2' }))
  return app
}

await build().listen({ port: Number(process.env.PORT ?? 3101) })
if (certificate) await build({ https: certificate }).listen({ port: Number(process.env.TLS_PORT ?? 3201) })
