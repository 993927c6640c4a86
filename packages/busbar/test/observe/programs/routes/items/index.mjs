import Fastify from 'fastify'

const app = Fastify()
app.get('/', async () => 'all')
app.register(async (one) => {
  one.get('/:id', async ({ params }) => params.id)
  one.post('/:id/parts/:part', async () => 'made')
})
app.get('/exit', () => process.exit(1))
app.all('/any/:one', async () => 'any')
app.get('/day/:year-:month', async () => 'day')
app.get('/search', async () => 'found')
await app.listen({ port: 3001 })
