import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/**
 * Says to the service how the request arrived, in the headers that everyone reads: `x-forwarded-for`, `-proto`, `-host`,
 * and `-prefix` where a prefix was cut off. What the client itself states under these names is gone by then
 * (`end-to-end.ts`).
 */
export function stateForwarded(req: IncomingMessage, prefix: string): void {
  const socket = req.socket as Socket & Partial<TLSSocket>
  const { headers, rawHeaders } = req
  const { host } = headers
  const client = socket.remoteAddress ?? 'unknown'
  const protocol = socket.encrypted === true ? 'https' : 'http'
  // Node has made `headers` already, so both views are written; each by its own name, which V8 does faster than by a variable.
  headers['x-forwarded-for'] = client
  headers['x-forwarded-proto'] = protocol
  rawHeaders.push('x-forwarded-for', client, 'x-forwarded-proto', protocol)
  if (host !== undefined) {
    headers['x-forwarded-host'] = host
    rawHeaders.push('x-forwarded-host', host)
  }
  if (prefix === '') return
  headers['x-forwarded-prefix'] = prefix
  rawHeaders.push('x-forwarded-prefix', prefix)
}
