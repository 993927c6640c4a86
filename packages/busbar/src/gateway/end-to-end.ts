/**
 * Header fields that concern one connection only, and that whoever passes a message on leaves out (RFC 9110, 7.6.1).
 * `Transfer-Encoding` is one, but says that there is a body: each of our ways states the framing anew.
 */
const hopByHop: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade'])

/**
 * The fields of a request for an exchange. A plain `Connection` stays: there it is only what the program reads, and the
 * exchange ends or keeps a connection that is none.
 */
export function forExchange(raw: readonly string[]): string[] {
  const fields = endToEnd(raw)
  const at = raw.findIndex((name, index) => index % 2 === 0 && isConnection(name))
  if (at !== -1 && isUsual(raw[at + 1]!)) fields.push(raw[at]!, raw[at + 1]!)
  return fields
}

/** What of `raw` is for the one at the other end, and not for the one in between: a list of its own. */
export function endToEnd(raw: readonly string[], alsoDropped?: string): string[] {
  const named = namedByConnection(raw)
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!
    const key = lowered.get(name) ?? lower(name)
    if (!hopByHop.has(key) && key !== alsoDropped && named?.has(key) !== true) kept.push(name, raw[at + 1]!)
  }
  return kept
}

export function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1]!] as [string, string]] : []))
}

/** Undefined where the sender names none but the usual ones. */
function namedByConnection(raw: readonly string[]): Set<string> | undefined {
  let named: Set<string> | undefined
  for (let at = 0; at < raw.length; at += 2) {
    if (!isConnection(raw[at]!) || isUsual(raw[at + 1]!)) continue
    named ??= new Set()
    for (const one of raw[at + 1]!.toLowerCase().split(/\s*,\s*/)) named.add(one)
  }
  return named
}

function isConnection(name: string): boolean {
  return name.length === 10 && (lowered.get(name) ?? lower(name)) === 'connection'
}

function isUsual(value: string): boolean {
  return value === 'keep-alive' || value === 'close'
}

/** Names as they were written; the same few come with every message. */
const lowered = new Map<string, string>()
const maxLowered = 1024

function lower(name: string): string {
  const key = name.toLowerCase()
  if (lowered.size < maxLowered && name.length < 64) lowered.set(name, key)
  return key
}
