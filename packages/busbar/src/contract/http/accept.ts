import type { JsonDialect } from '../value/encode.ts'

/**
 * A parameter of the types in `accept`: a custom header would cost browsers a preflight request.
 */
const parameter = 'values=tagged'

/**
 * The `accept` header of a client that decodes tags. A server that does not know the parameter uses
 * the second type.
 */
export function taggedAccept(type: string): string {
  return `${type};${parameter}, ${type};q=0.9`
}

/** The dialect that a response is written in. */
export function dialectFor(accept: string | undefined): JsonDialect {
  return accept?.includes(parameter) === true ? 'tags' : 'json'
}

/** The highest weight of each media range, in lower case, whatever its other parameters. */
export function mediaRanges(accept: string): ReadonlyMap<string, number> {
  const ranges = new Map<string, number>()
  for (const range of accept.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? []) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const stated = parameters.find((parameter) => /^q\s*=/.test(parameter))
    const weight = stated === undefined ? 1 : Number(stated.slice(stated.indexOf('=') + 1)) || 0
    ranges.set(type, Math.max(ranges.get(type) ?? 0, weight))
  }
  return ranges
}
