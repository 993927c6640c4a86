import fastify from 'fastify'

export async function build(options = {}, name = 'fastify-build') {
  const app = fastify(options)
  app.get('/', async () => ({ hello: name }))
  return app
}
