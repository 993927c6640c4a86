/**
 * One of the four callees: `GET /live`. The first is a Fastify program, the others are plain
 * `node:http`, as in the published comparison. `PORT` is a port, or the path of a Unix socket.
 */
import { readFileSync } from 'node:fs'
import http, { type RequestListener } from 'node:http'
import https from 'node:https'
import Fastify from 'fastify'

const { LEAF = '1', PORT = '0', TLS_CERT, TLS_KEY } = process.env
const tls = TLS_CERT && TLS_KEY ? { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) } : undefined
const where = /^\d+$/.test(PORT) ? { port: Number(PORT), host: '127.0.0.1' } : { path: PORT }

if (LEAF === '0') {
  const app = Fastify(tls ? ({ https: tls } as object) : {})
  const response = { 200: { type: 'object', properties: { status: { type: 'string' } } } }
  app.get('/live', { schema: { response } }, async () => ({ status: 'ok' }))
  await app.listen(where)
} else {
  let count = 0
  const listener: RequestListener = (request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ content: `from "${request.url}": ${count++ % 10}` }))
  }
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener)
  server.listen(where)
}
