import swagger from '@fastify/swagger'
import Fastify from 'fastify'

const app = Fastify()
await app.register(swagger, {
  openapi: {
    openapi: '3.1.0',
    info: { title: 'shop', version: '1' },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'key' } } },
    security: [{ key: [] }],
  },
})
app.addSchema({ $id: 'Product', type: 'object', properties: { sku: { type: 'string' } } })
const schema = { operationId: 'featured', response: { 200: { type: 'array', items: { $ref: 'Product#' } } } }
app.get('/baskets/:id', { schema }, async () => [])
app.get('/documentation/json', { schema: { hide: true } }, async () => app.swagger())
await app.listen({ port: 3000 })
