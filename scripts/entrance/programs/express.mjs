// An ordinary Express program: it knows nothing of the entrance.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import express from 'express'

const app = express()
app.use(express.json())
app.get('/', (_request, response) => response.json({ hello: 'world' }))
app.post('/products', (request, response) => {
  response.json({ count: request.body.products.length, products: request.body.products })
})
const { TLS_CERT: cert, TLS_KEY: key } = process.env
const server = cert === undefined ? app : createServer({ cert: readFileSync(cert), key: readFileSync(key) }, app)
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
