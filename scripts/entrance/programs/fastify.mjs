// An ordinary Fastify program: it knows nothing of the entrance.
import { readFileSync } from 'node:fs'
import fastify from 'fastify'

const { TLS_CERT: cert, TLS_KEY: key } = process.env
const app = fastify(cert === undefined ? {} : { https: { cert: readFileSync(cert), key: readFileSync(key) } })
app.get('/', () => ({ hello: 'world' }))
app.post('/products', (request) => ({ count: request.body.products.length, products: request.body.products }))
await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
