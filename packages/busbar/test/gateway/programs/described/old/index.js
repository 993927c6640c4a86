import { createServer } from 'node:http'

/** OpenAPI 3.0, with a server of its own and words that 3.1 has not. */
const document = {
  openapi: '3.0.3',
  info: { title: 'old', version: '1' },
  servers: [{ url: '/v1' }],
  paths: {
    '/things/{id}': {
      get: {
        operationId: 'featured',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: {
          200: {
            description: 'it',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        properties: { note: { type: 'string', nullable: true }, of: { $ref: '#/components/schemas/Product' } },
      },
      Product: { type: 'object', properties: { weight: { type: 'number', minimum: 0, exclusiveMinimum: true } } },
      Alone: { type: 'string' },
    },
  },
}

createServer((req, res) => res.end(req.url === '/openapi.json' ? JSON.stringify(document) : 'old')).listen(3001)
