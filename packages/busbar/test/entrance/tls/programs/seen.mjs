// Says what it sees of its client's certificate, and sets the fields that its query names.
import { createServer } from 'node:http'

createServer((request, response) => {
  const { socket, headers } = request
  const { searchParams } = new URL(request.url, 'http://a')
  if (searchParams.has('hsts')) response.setHeader('Strict-Transport-Security', searchParams.get('hsts'))
  const { authorized = null } = socket
  const subject = socket.getPeerCertificate?.().subject?.CN ?? null
  const field = headers['client-cert'] ?? null
  response.end(
    JSON.stringify({ url: request.url, authorized, subject, field, chain: headers['client-cert-chain'] ?? null }),
  )
}).listen(process.env.PORT ?? 3000)
