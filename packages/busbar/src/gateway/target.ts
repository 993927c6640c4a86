import type { IncomingMessage } from 'node:http'

/** Why a request cannot be routed; undefined when it can. */
export type Refusal = string | undefined

const slash = 0x2f
const asterisk = '*'

/**
 * Brings the request target into the one form that is routed, or says why not. What two programs
 * may read differently is refused instead of guessed: then no route can be reached by a path that
 * looks like another's.
 *
 * Routes match the path as it was sent, byte for byte: nothing is decoded, so `/%73hop` is not
 * `/shop` and `%2F` is no boundary. Dot segments, plain or encoded, backslashes and fragments have
 * no place in a target that a client has normalised (RFC 3986, 6.2.2; RFC 9112, 3.2), and every
 * browser and HTTP library does that.
 */
export function settleTarget(req: IncomingMessage): Refusal {
  const { httpVersionMajor, httpVersionMinor } = req
  // Node's parser takes 0.9 and 2.0 as well, which have another syntax; a service would read them
  // as it likes.
  if (httpVersionMajor !== 1 || httpVersionMinor > 1) return 'it is neither HTTP/1.1 nor HTTP/1.0'
  const url = req.url!
  if (url.charCodeAt(0) !== slash) return settleOtherForm(req, url)
  return refusePath(url)
}

function refusePath(url: string): Refusal {
  if (url.includes('#')) return 'the request target has a fragment'
  // Nearly every path passes here without a regular expression.
  if (!url.includes('/.') && !url.includes('%2') && !url.includes('\\')) return undefined
  const path = url.split('?', 1)[0]!
  if (path.includes('\\')) return 'the path has a backslash'
  if (/\/(?:\.|%2e){1,2}(?=\/|%2f|$)/i.test(path)) return 'the path has a dot segment'
  return undefined
}

/**
 * `OPTIONS *` stays as it is; the absolute form (RFC 9112, 3.2.2) becomes a path, and its authority
 * the Host.
 */
function settleOtherForm(req: IncomingMessage, url: string): Refusal {
  if (url === asterisk) return req.method === 'OPTIONS' ? undefined : 'only OPTIONS may ask for *'
  const absolute = /^https?:\/\/([^/?#]+)(.*)$/i.exec(url)
  if (absolute === null) return 'the request target is neither a path nor an http URL'
  const [, authority, rest] = absolute
  if (authority!.includes('@')) return 'the request target carries credentials'
  setHost(req, authority!)
  req.url = rest!.startsWith('/') ? rest! : `/${rest}`
  return refusePath(req.url)
}

const hostForm = /^(?:\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d*)?$/i

/**
 * Exactly one Host, and that a host (RFC 9112, 3.2). Node keeps the first of several, and a proxy
 * before us may have judged the last.
 */
export function refuseHost(req: IncomingMessage): Refusal {
  const { host } = req.headers
  if (host === undefined) return req.httpVersion === '1.1' ? 'the request has no Host header' : undefined
  if (!hostForm.test(host)) return 'the Host header is not a host'
  return countHosts(req.rawHeaders) > 1 ? 'the request has more than one Host header' : undefined
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
