/** RFC 9110, 5.6.2. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** RFC 9110, 5.5, without whitespace at the ends, which clients and parsers trim. */
const value = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/

/** Headers of the connection or the framing that are not supported here. */
const connectionHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect'])

/** Valid names, with their lower case. A bounded cache. */
const known = new Map<string, string>()
const maxKnown = 500

/** The header lines of a request as undici writes them: `host` and `connection` first. */
export class HeaderLines {
  readonly raw: string[]
  contentLength: number | undefined
  #hostSet = false

  constructor(host: string) {
    this.raw = ['host', host, 'connection', 'keep-alive']
  }

  /** Adds a line that the caller has checked. */
  push(name: string, text: string): void {
    this.raw.push(name, text)
  }

  /** Returns false for an invalid header, and for one with a special meaning. */
  add(name: unknown, given: unknown): boolean {
    if (given === undefined) return true
    const lower = typeof name === 'string' ? headerName(name) : undefined
    if (lower === undefined || connectionHeaders.has(lower)) return false
    if (Array.isArray(given)) return this.#addAll(name as string, lower, given)
    const text = headerText(given)
    if (text === undefined) return false
    if (lower === 'host') return this.#setHost(text)
    if (lower === 'content-length') return this.#setLength(text)
    this.raw.push(name as string, text)
    return true
  }

  #addAll(name: string, lower: string, given: readonly unknown[]): boolean {
    if (lower === 'host' || lower === 'content-length') return false
    for (const one of given) {
      const text = headerText(one)
      if (text === undefined) return false
      this.raw.push(name, text)
    }
    return true
  }

  #setHost(text: string): boolean {
    if (this.#hostSet) return false
    this.#hostSet = true
    this.raw[1] = text
    return true
  }

  #setLength(text: string): boolean {
    if (this.contentLength !== undefined || !/^\d{1,15}$/.test(text)) return false
    this.contentLength = Number(text)
    return true
  }
}

/** The name in lower case. Undefined if it is invalid. */
export function headerName(name: string): string | undefined {
  const found = known.get(name)
  if (found !== undefined) return found
  if (!token.test(name)) return undefined
  if (known.size >= maxKnown) known.clear()
  const lower = name.toLowerCase()
  known.set(name, lower)
  return lower
}

/** Undefined if the value cannot be sent unchanged. */
export function headerText(given: unknown): string | undefined {
  if (given === null) return ''
  const text = typeof given === 'string' ? given : typeof given === 'number' ? String(given) : undefined
  return text !== undefined && value.test(text) ? text : undefined
}
