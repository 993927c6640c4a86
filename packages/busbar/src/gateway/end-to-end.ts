/**
 * What of a message's head is for the one at its other end, and not for whoever stands in between.
 * Header fields that concern one connection only are left out by whoever passes a message on, and
 * so is what its `Connection` lists (RFC 9110, 7.6.1).
 */
import type { IncomingMessage } from 'node:http'

/**
 * `Transfer-Encoding` is one, too, but says that there is a body: each of our ways states the
 * framing anew.
 */
const hopByHop: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade'])

/**
 * What a sender cannot take away by a list in `Connection`: where the message goes, what its body
 * is and where that ends. RFC 9110 lets nobody list them; a proxy that believed it deleted its own
 * fields (CVE-2022-31813).
 */
const neverListed = new Set(['host', 'expect', 'trailer', 'transfer-encoding'])
const isKept = (key: string): boolean => neverListed.has(key) || key.startsWith('content-')

/** Only the gateway says these, and the mesh: a client could claim anything. */
const claims: ReadonlySet<string> = new Set(['forwarded', 'x-real-ip', 'busbar-hops'])

/**
 * Leaves in a request what is for its service: neither fields of the client's connection nor claims
 * of who it is. A `Connection` that says no more than whether it goes on stays, since that is true
 * of what the service has in its place. With `upgrade`, the fields that ask for it stay.
 */
export function dropHopByHop(req: IncomingMessage, upgrade: boolean): void {
  const raw = req.rawHeaders
  if (!hasDropped(raw)) return
  const listed = listedIn(raw)
  const goesOnOrNot = listed === undefined && !upgrade
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const key = raw[at]!.toLowerCase()
    if (goesOnOrNot && key === 'connection') kept.push(raw[at]!, raw[at + 1]!)
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
 * The same of an answer: a list of its own. Whether its body comes in chunks is decided anew with
 * `anew`. With `upgrade`, which is then its `Connection`, it says which upgrade its service takes.
 */
export function endToEnd(
  raw: readonly string[],
  { anew, upgrade }: { anew: boolean; upgrade?: string | undefined },
): string[] {
  const listed = listedIn(raw)
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const key = raw[at]!.toLowerCase()
    if (upgrade !== undefined && key === 'upgrade') kept.push(raw[at]!, raw[at + 1]!, 'Connection', upgrade)
    else if (hopByHop.has(key) || (anew && key === 'transfer-encoding')) continue
    else if (listed?.has(key) !== true || isKept(key)) kept.push(raw[at]!, raw[at + 1]!)
  }
  return kept
}

/** Whether the sender ends the connection with this message. */
export function closes(raw: readonly string[]): boolean {
  return raw.some((name, at) => at % 2 === 0 && isConnection(name) && /(?:^|,)\s*close\s*(?:,|$)/i.test(raw[at + 1]!))
}

/** Most requests carry nothing of the kind, which their names' lengths and first letters tell. */
function hasDropped(raw: readonly string[]): boolean {
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!
    if (!lengths.has(name.length) && !isX(name)) continue
    if (isConnection(name) ? !isUsual(raw[at + 1]!) : isDropped(name.toLowerCase())) return true
  }
  return false
}

const lengths: ReadonlySet<number> = new Set([...hopByHop, ...claims].map(({ length }) => length))

function isX(name: string): boolean {
  return (name.charCodeAt(0) | 0x20) === 0x78
}

function isDropped(key: string): boolean {
  return hopByHop.has(key) || claims.has(key) || key.startsWith('x-forwarded-')
}

/** Undefined where the sender lists none but the usual ones. */
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
