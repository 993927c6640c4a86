/** Syntax of header fields (RFC 9110, 5). */

const token = /^[\w!#$%&'*+.^`|~-]+$/
const unfit = /[^\t\x20-\x7e\x80-\xff]/

export function isHeaderName(name: string): boolean {
  return token.test(name)
}

export function isHeaderValue(value: string): boolean {
  return !unfit.test(value)
}

/**
 * Fields that frame the message or manage its connection. Only the code that writes the message
 * sets them.
 */
export const framing: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Validates a response header when it is set, while the caller is still on the stack. Returns the
 * name in lower case. Throws a TypeError.
 */
export function checkHeader(name: string, value: string): string {
  if (!isHeaderName(name)) throw new TypeError(`setHeader: ${JSON.stringify(name)} is not a valid header name`)
  const lower = name.toLowerCase()
  if (framing.has(lower)) throw new TypeError(`setHeader: ${name} is set by the server`)
  if (!isHeaderValue(value))
    throw new TypeError(`setHeader: the value of ${name} contains characters that are not allowed in a header`)
  return lower
}
