/** A plain Fastify route that validates its input and serialises its output by a schema. */
import Fastify from 'fastify'
import { constant, stored, type Product } from './catalog.ts'

const integer = { type: 'integer' }
const text = { type: 'string' }
const product = {
  type: 'object',
  properties: { id: integer, name: text, category: text, cents: integer, stock: integer },
}
const schema = {
  body: {
    type: 'object',
    required: ['limit'],
    properties: { limit: { type: 'integer', minimum: 1, maximum: 100 } },
    additionalProperties: false,
  },
  response: { 200: { type: 'object', properties: { products: { type: 'array', items: product } } } },
}
const app = Fastify()

app.get('/ready', async () => 'ready')
serve('/constant', constant)
serve('/stored', stored)
await app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' })

function serve(path: string, read: (limit: number) => Product[]): void {
  app.post<{ Body: { limit: number } }>(path, { schema }, async ({ body }) => ({ products: read(body.limit) }))
}
