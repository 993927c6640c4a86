import fastify from 'fastify'

const app = fastify()
app.get('/', async () => ({ hello: 'export-fastify' }))
export default app
