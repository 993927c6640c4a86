// Stops like most programs: it closes its server, which closes idle connections.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'

const { TLS_CERT, TLS_KEY } = process.env
const answer = (_, response) => response.end('"hello"')
const server = TLS_CERT
  ? https.createServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, answer)
  : http.createServer(answer)
server.listen(3000)
process.on('SIGTERM', () => server.close(() => process.exit(0)))
