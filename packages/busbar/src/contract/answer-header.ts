import { framing, isHeaderName, isHeaderValue } from './header-syntax.ts'

/**
 * Refuses, where it is set, a header that no answer can carry: found when it is written, it would be nobody's any more.
 * Returns its name in lower case. Throws a TypeError.
 */
export function checkHeader(name: string, value: string): string {
  if (!isHeaderName(name)) throw new TypeError(`setHeader: ${JSON.stringify(name)} is no name of a header`)
  const lower = name.toLowerCase()
  if (framing.has(lower)) throw new TypeError(`setHeader: ${name} is for the server to set`)
  if (!isHeaderValue(value))
    throw new TypeError(`setHeader: the value of ${name} has characters that no header can hold`)
  return lower
}
