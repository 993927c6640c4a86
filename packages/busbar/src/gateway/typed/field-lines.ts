import { isHost } from '../routing/request-target.ts'
import { isTrustedOnly } from '../forward/hop-by-hop.ts'

/** The fields of a usual request, as `req.headers` of Node has them. */
export interface UsualFields {
  /** Without what only the gateway sets. */
  readonly headers: Readonly<Record<string, string>>
  readonly host: string
}

/** What changes how the message is read, or of which Node makes a list. */
const unusual: ReadonlySet<string> = new Set([
  'content-encoding',
  'expect',
  'keep-alive',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** In characters. Longer lines are not kept. */
const maxKept = 2048

/**
 * Reads the lines of a head whose syntax the entrance has checked. The last ones are kept, each at
 * a position by its length: a client often sends the same again, and to compare costs a tenth.
 */
export class FieldLines {
  readonly #known: ({ readonly lines: string; readonly fields: UsualFields } | undefined)[] = Array.from({ length: 64 })

  /** Undefined if Node's own server has to read them. */
  read(lines: string): UsualFields | undefined {
    const at = lines.length % this.#known.length
    const known = this.#known[at]
    if (known !== undefined && known.lines === lines) return known.fields
    const fields = parse(lines)
    if (fields !== undefined && lines.length <= maxKept) this.#known[at] = { lines, fields }
    return fields
  }
}

function parse(lines: string): UsualFields | undefined {
  const headers: Record<string, string> = {}
  for (let at = 0; ;) {
    const end = lines.indexOf('\r\n', at)
    if (end === at) break
    const colon = lines.indexOf(':', at)
    if (end < 0 || colon < 0 || colon >= end) return undefined
    const name = lines.slice(at, colon).toLowerCase()
    const value = withoutSpace(lines, colon + 1, end)
    at = end + 2
    if (isTrustedOnly(name)) continue
    // How repeated fields are joined depends on the field. Names of `Object.prototype` do not
    // occur either.
    if (name in headers || unusual.has(name)) return undefined
    if (name === 'connection' && value !== 'keep-alive') return undefined
    headers[name] = value
  }
  const { host } = headers
  return host !== undefined && isHost(host) ? { headers, host } : undefined
}

/** A value without the spaces and tabs around it (RFC 9110, 5.5). */
function withoutSpace(text: string, start: number, end: number): string {
  let [from, to] = [start, end]
  while (from < to && isSpace(text.charCodeAt(from))) from++
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09
}
