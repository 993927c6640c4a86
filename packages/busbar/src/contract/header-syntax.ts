/** What a header can be (RFC 9110, 5), for what becomes one. */

const token = /^[\w!#$%&'*+.^`|~-]+$/
const unfit = /[^\t\x20-\x7e\x80-\xff]/

export function isHeaderName(name: string): boolean {
  return token.test(name)
}

export function isHeaderValue(value: string): boolean {
  return !unfit.test(value)
}

/** They say where a message ends and what becomes of its connection, which is for whoever writes it. */
export const framing: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
