import fastify from 'fastify'

const app = fastify({ logger: true })
app.get('/', async () => ({ hello: 'fastify5' }))
await app.listen({ port: 3000 })
