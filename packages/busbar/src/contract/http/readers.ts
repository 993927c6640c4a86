import type { Reader } from '../value/encode.ts'

/** A parameter of the types in `accept`: an own header would cost browsers a preflight request. */
const parameter = 'values=tagged'

/** The `accept` of a client that reads tags. A server that does not know the parameter takes the second one. */
export function acceptTagged(type: string): string {
  return `${type};${parameter}, ${type};q=0.9`
}

/** Who asks for an answer. */
export function readerOf(accept: string | undefined): Reader {
  return accept?.includes(parameter) === true ? 'tags' : 'json'
}
