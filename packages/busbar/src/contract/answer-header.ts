const token = /^[\w!#$%&'*+.^`|~-]+$/
/** What a line of a header cannot hold (RFC 9110, 5.5). */
const unfit = /[^\t\x20-\x7e\x80-\xff]/
/** They say where an answer ends and what becomes of its connection, which is for whoever writes it. */
const framing = new Set(['connection', 'content-length', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/**
 * Refuses, where it is set, a header that no answer can carry: found when it is written, it would be nobody's any more.
 * Returns its name in lower case. Throws a TypeError.
 */
export function checkHeader(name: string, value: string): string {
  if (!token.test(name)) throw new TypeError(`setHeader: ${JSON.stringify(name)} is no name of a header`)
  const lower = name.toLowerCase()
  if (framing.has(lower)) throw new TypeError(`setHeader: ${name} is for the server to set`)
  if (unfit.test(value)) throw new TypeError(`setHeader: the value of ${name} has characters that no header can hold`)
  return lower
}
