import fastify from 'fastify'

export default async function build(options = {}) {
  const app = fastify(options)
  app.get('/', async () => ({ hello: 'export-factory' }))
  return app
}
