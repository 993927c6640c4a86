import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { certificate } from '../certificate.js'

interface Live {
  status: 'ok'
  service: string
}

const live: Live = { status: 'ok', service: 'type1' }

function answer(req: IncomingMessage, res: ServerResponse): void {
  if (req.method !== 'GET' || req.url !== '/live') {
    res.writeHead(404).end()
    return
  }
  const body = JSON.stringify(live)
  res.setHeader('content-type', 'application/json')
  res.setHeader('content-length', Buffer.byteLength(body))
  res.end(body)
}

createServer(answer).listen(Number(process.env['PORT'] ?? 3103), '127.0.0.1')
if (certificate) createTlsServer(certificate, answer).listen(Number(process.env['TLS_PORT'] ?? 3203), '127.0.0.1')
