import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { certificate } from '../certificate.js'

/** Streams its answer in chunks, so that only its end shows that it is complete. */
const answer: RequestListener = (req, res) => {
  if (req.url !== '/live') {
    res.writeHead(404).end()
    return
  }
  res.writeHead(200, { 'content-type': 'application/json' })
  res.write('{"status":"ok",')
  res.end('"service":"type4"}')
}

createServer(answer).listen(Number(process.env['PORT'] ?? 3104), '127.0.0.1')
if (certificate) createTlsServer(certificate, answer).listen(Number(process.env['TLS_PORT'] ?? 3204), '127.0.0.1')
