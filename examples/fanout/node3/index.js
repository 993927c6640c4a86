import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { certificate } from '../certificate.js'

const live = JSON.stringify({ status: 'ok', service: 'node3' })

function answer(req, res) {
  if (req.url !== '/live') return res.writeHead(404).end()
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(live) })
  res.end(live)
}

createServer(answer).listen(Number(process.env.PORT ?? 3102), '127.0.0.1')
if (certificate) createTlsServer(certificate, answer).listen(Number(process.env.TLS_PORT ?? 3202), '127.0.0.1')
