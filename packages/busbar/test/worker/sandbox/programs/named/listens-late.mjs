import fastify from 'fastify'

/** Like programs that export their app for tests, and listen when their database has answered. */
export const app = fastify()

setTimeout(async () => {
  app.get('/', async () => ({ hello: 'listens-late' }))
  await app.listen({ port: 4321 })
}, 1500)
