import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Target } from '../request-context.ts'
import { clientCertificateField, clientCertificateOf } from '../tls/client-certificate.ts'
import { stripPrefix } from '../../shared/strip-prefix.ts'
import { removeHopByHop } from './hop-by-hop.ts'

/**
 * Changes the request into the one that the service gets, wherever it runs. The part of the path
 * that the route strips is removed. There is no `originalUrl` with the whole path: frameworks would
 * route by it, and a service over TCP would not have it. Header fields are removed before the
 * gateway adds its own, so that a client cannot remove those.
 */
export function prepareRequest(req: IncomingMessage, { route: { strippedPrefix } }: Target, upgrade = false): void {
  if (strippedPrefix !== '') req.url = stripPrefix(req.url!, strippedPrefix)
  removeHopByHop(req, upgrade)
  setForwardedHeaders(req, strippedPrefix)
}

/**
 * Sets `x-forwarded-for`, `-proto`, `-host`, `-prefix` if a prefix was stripped, and `client-cert`
 * if the client has shown a certificate. The client's own fields of these names have been removed
 * (`hop-by-hop.ts`).
 */
function setForwardedHeaders(req: IncomingMessage, prefix: string): void {
  const socket = req.socket as Socket & Partial<TLSSocket>
  const { headers, rawHeaders } = req
  const { host } = headers
  const client = socket.remoteAddress ?? 'unknown'
  const protocol = socket.encrypted === true ? 'https' : 'http'
  // Node has parsed `headers` already, so both views are written. Literal names are faster in V8
  // than a variable.
  headers['x-forwarded-for'] = client
  headers['x-forwarded-proto'] = protocol
  rawHeaders.push('x-forwarded-for', client, 'x-forwarded-proto', protocol)
  if (host !== undefined) {
    headers['x-forwarded-host'] = host
    rawHeaders.push('x-forwarded-host', host)
  }
  const certificate = clientCertificateOf(socket)
  if (certificate !== undefined) {
    headers[clientCertificateField] = certificate
    rawHeaders.push(clientCertificateField, certificate)
  }
  if (prefix === '') return
  headers['x-forwarded-prefix'] = prefix
  rawHeaders.push('x-forwarded-prefix', prefix)
}
