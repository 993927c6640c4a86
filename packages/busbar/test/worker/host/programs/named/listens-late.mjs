import fastify from 'fastify'

/** As programs do that export their app for tests, and listen when their database answers. */
export const app = fastify()

setTimeout(async () => {
  app.get('/', async () => ({ hello: 'listens-late' }))
  await app.listen({ port: 4321 })
}, 1500)
