import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { certificate } from '../../certificate.js'

export function serve(answer) {
  createServer(answer).listen(Number(process.env.PORT), '127.0.0.1')
  createTlsServer(certificate, answer).listen(Number(process.env.TLS_PORT), '127.0.0.1')
}
