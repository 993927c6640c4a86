import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/**
 * Says to the service how the request arrived, in the headers that everyone reads: `x-forwarded-for`, `-proto`, `-host`,
 * and `-prefix` where a prefix was cut off. What the client itself states under these names is dropped, as are
 * `forwarded` and `x-real-ip`: it could claim any address.
 */
export function stateForwarded(req: IncomingMessage, prefix: string): void {
  if (claimsForwarded(req.rawHeaders)) dropClaims(req)
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

const claim = /^(?:x-forwarded-.*|forwarded|x-real-ip)$/i

/** By the first letter, then by the name: most requests carry no header that begins with x or f. */
function claimsForwarded(raw: readonly string[]): boolean {
  for (let at = 0; at < raw.length; at += 2) {
    const first = raw[at]!.charCodeAt(0) | 0x20
    if ((first === 0x78 || first === 0x66) && claim.test(raw[at]!)) return true
  }
  return false
}

function dropClaims(req: IncomingMessage): void {
  const kept: string[] = []
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    const name = req.rawHeaders[at]!
    if (claim.test(name)) delete req.headers[name.toLowerCase()]
    else kept.push(name, req.rawHeaders[at + 1]!)
  }
  req.rawHeaders = kept
}
