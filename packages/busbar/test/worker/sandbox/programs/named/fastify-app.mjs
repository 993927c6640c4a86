import fastify from 'fastify'

export const app = fastify()
app.get('/', async () => ({ hello: 'fastify-app' }))
