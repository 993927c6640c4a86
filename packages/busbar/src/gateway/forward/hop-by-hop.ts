/**
 * Separates end-to-end header fields from hop-by-hop ones, which concern one connection only. A
 * proxy removes hop-by-hop fields, and those that `Connection` lists (RFC 9110, 7.6.1).
 */
import type { IncomingMessage } from 'node:http'
import { clientCertificateField } from '../tls/client-certificate.ts'

/**
 * `Transfer-Encoding` is hop-by-hop too, but tells that there is a body. Every way to forward a
 * message sets the framing again.
 */
const hopByHop: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade'])

/**
 * Fields that a sender cannot remove by listing them in `Connection`: the target and the body's
 * type and framing. RFC 9110 forbids listing them. A proxy that obeyed such a list removed its own
 * fields (CVE-2022-31813).
 */
const neverListed = new Set(['host', 'expect', 'trailer', 'transfer-encoding'])
const isKept = (key: string): boolean => neverListed.has(key) || key.startsWith('content-')

/** Only the gateway and the mesh set these: a client could claim anything. */
const trustedOnly: ReadonlySet<string> = new Set([
  'forwarded',
  'x-real-ip',
  'busbar-hops',
  clientCertificateField,
  'client-cert-chain',
])

/**
 * Removes from a request the fields of the client's connection and the client's claims about
 * itself. A `Connection` of only `keep-alive` or `close` stays, since it is also true for the
 * service's connection. With `upgrade`, the fields that ask for the upgrade stay.
 */
export function removeHopByHop(req: IncomingMessage, upgrade: boolean): void {
  const raw = req.rawHeaders
  if (!hasDropped(raw)) return
  const listed = listedIn(raw)
  const keepsConnection = listed === undefined && !upgrade
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const key = raw[at]!.toLowerCase()
    if (keepsConnection && key === 'connection') kept.push(raw[at]!, raw[at + 1]!)
    else if (upgrade && key === 'upgrade') kept.push(raw[at]!, raw[at + 1]!)
    else if (isDropped(key) || (listed?.has(key) === true && !isKept(key))) delete req.headers[key]
    else kept.push(raw[at]!, raw[at + 1]!)
  }
  if (upgrade) {
    kept.push('Connection', 'Upgrade')
    req.headers.connection = 'Upgrade'
  }
  req.rawHeaders = kept
}

/**
 * A copy of the fields without the hop-by-hop ones. `keepsFraming`: `Transfer-Encoding` stays;
 * without it, Node decides the framing. `upgrade` keeps the `Upgrade` field, with this value as
 * `Connection`.
 */
export function endToEndHeaders(
  raw: readonly string[],
  { keepsFraming, upgrade }: { keepsFraming: boolean; upgrade?: string | undefined },
): string[] {
  const listed = listedIn(raw)
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const key = raw[at]!.toLowerCase()
    if (upgrade !== undefined && key === 'upgrade') kept.push(raw[at]!, raw[at + 1]!, 'Connection', upgrade)
    else if (hopByHop.has(key) || (key === 'transfer-encoding' && (!keepsFraming || isIdentity(raw[at + 1]!)))) continue
    else if (listed?.has(key) !== true || isKept(key)) kept.push(raw[at]!, raw[at + 1]!)
  }
  return kept
}

/** No coding (RFC 9112 has removed it): the connection's end is that of the body. */
function isIdentity(coding: string): boolean {
  return coding.trim().toLowerCase() === 'identity'
}

/** True if the sender closes the connection after this message. */
export function closes(raw: readonly string[]): boolean {
  return raw.some((name, at) => at % 2 === 0 && isConnection(name) && /(?:^|,)\s*close\s*(?:,|$)/i.test(raw[at + 1]!))
}

/** Fast check by the names' lengths and first letters: most requests have no such field. */
function hasDropped(raw: readonly string[]): boolean {
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!
    if (!lengths.has(name.length) && !isX(name)) continue
    if (isConnection(name) ? !isUsual(raw[at + 1]!) : isDropped(name.toLowerCase())) return true
  }
  return false
}

const lengths: ReadonlySet<number> = new Set([...hopByHop, ...trustedOnly].map(({ length }) => length))

function isX(name: string): boolean {
  return (name.charCodeAt(0) | 0x20) === 0x78
}

function isDropped(key: string): boolean {
  return hopByHop.has(key) || isTrustedOnly(key)
}

/** Of a client, such a field is a claim, and no service sees it. `key`: in lower case. */
export function isTrustedOnly(key: string): boolean {
  return trustedOnly.has(key) || key.startsWith('x-forwarded-')
}

/** The names that `Connection` lists. Undefined if it lists only `keep-alive` or `close`. */
function listedIn(raw: readonly string[]): Set<string> | undefined {
  let listed: Set<string> | undefined
  for (let at = 0; at < raw.length; at += 2) {
    const value = raw[at + 1]!
    if (!isConnection(raw[at]!) || isUsual(value)) continue
    listed ??= new Set()
    for (const one of value.toLowerCase().split(',')) listed.add(one.trim())
  }
  return listed
}

function isConnection(name: string): boolean {
  return name.length === 10 && name.toLowerCase() === 'connection'
}

function isUsual(value: string): boolean {
  return value === 'keep-alive' || value === 'close'
}
