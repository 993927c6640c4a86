import fastify from 'fastify4'

const app = fastify({ logger: true })
app.get('/', async () => ({ hello: 'fastify4' }))
await app.listen({ port: 3000 })
