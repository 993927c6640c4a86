import type { IncomingMessage } from 'node:http'

/** Why a request cannot be routed. Undefined if it can. */
export type Rejection = string | undefined

const slash = 0x2f
const asterisk = '*'

/**
 * Normalizes the request target for routing, or returns why it cannot be routed. A target that two
 * programs may read differently is rejected: otherwise a path could reach a service by another
 * route than it seems to.
 *
 * Routes match the path as sent, byte for byte. Nothing is decoded, so `/%73hop` is not `/shop` and
 * `%2F` separates nothing. Dot segments, plain or encoded, backslashes and fragments do not occur
 * in a normalized target (RFC 3986, 6.2.2; RFC 9112, 3.2). Every browser and HTTP library
 * normalizes.
 */
export function normalizeTarget(req: IncomingMessage): Rejection {
  const { httpVersionMajor, httpVersionMinor } = req
  // Node's parser also accepts 0.9 and 2.0, which have another syntax. Services may read them
  // differently.
  if (httpVersionMajor !== 1 || httpVersionMinor > 1) return 'it is neither HTTP/1.1 nor HTTP/1.0'
  const url = req.url!
  if (url.charCodeAt(0) !== slash) return normalizeOtherForm(req, url)
  return checkPath(url)
}

/** Of a target that begins with a slash. */
export function checkPath(url: string): Rejection {
  if (url.includes('#')) return 'the request target has a fragment'
  // Nearly every path returns here, without a regular expression.
  if (!url.includes('/.') && !url.includes('%2') && !url.includes('\\')) return undefined
  const path = url.split('?', 1)[0]!
  if (path.includes('\\')) return 'the path has a backslash'
  if (/\/(?:\.|%2e){1,2}(?=\/|%2f|$)/i.test(path)) return 'the path has a dot segment'
  return undefined
}

/**
 * `OPTIONS *` is unchanged. The absolute form (RFC 9112, 3.2.2) becomes a path, and its authority
 * the Host.
 */
function normalizeOtherForm(req: IncomingMessage, url: string): Rejection {
  if (url === asterisk) return req.method === 'OPTIONS' ? undefined : 'only OPTIONS may ask for *'
  const absolute = /^https?:\/\/([^/?#]+)(.*)$/i.exec(url)
  if (absolute === null) return 'the request target is neither a path nor an http URL'
  const [, authority, rest] = absolute
  if (authority!.includes('@')) return 'the request target carries credentials'
  setHost(req, authority!)
  req.url = rest!.startsWith('/') ? rest! : `/${rest}`
  return checkPath(req.url)
}

/** Some clients (Socket.IO's) send IPv6 addresses without brackets, and Node accepts them. */
const hostForm = /^(?:(?:\[[\da-f.]*:[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d*)?|(?:[\da-f]*:){2,}[\da-f.]*(?::\d*)?)$/i

/**
 * Requires exactly one valid Host (RFC 9112, 3.2). Of several, Node keeps the first, while a proxy
 * in front of the gateway may have checked the last.
 */
export function checkHost(req: IncomingMessage): Rejection {
  const { host } = req.headers
  if (host === undefined) return req.httpVersion === '1.1' ? 'the request has no Host header' : undefined
  if (!isHost(host)) return 'the Host header is not a host'
  return countHosts(req.rawHeaders) > 1 ? 'the request has more than one Host header' : undefined
}

/** The syntax of a Host field's value. */
export function isHost(host: string): boolean {
  return hostForm.test(host)
}

function countHosts(raw: readonly string[]): number {
  let count = 0
  for (let at = 0; at < raw.length; at += 2) if (raw[at]!.length === 4 && raw[at]!.toLowerCase() === 'host') count++
  return count
}

function setHost(req: IncomingMessage, host: string): void {
  req.headers.host = host
  const at = req.rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  if (at >= 0) req.rawHeaders[at + 1] = host
  else req.rawHeaders.push('Host', host)
}
