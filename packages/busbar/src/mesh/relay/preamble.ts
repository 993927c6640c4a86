/**
 * The first line on a connection that a Node program outside of the workers makes: what it wants, and in whose name. All that
 * follows is HTTP, or whatever else the client speaks.
 *
 *     BUSBAR/1 <token> connect|ask <service> <port> <caller> <hops>
 */
export interface Preamble {
  readonly token: string
  /** `ask`: whether a connection would be taken. The answer is a line of JSON, null or an {@link AskedRefusal}. */
  readonly verb: 'connect' | 'ask'
  readonly service: string
  /** That the client has in its URL: nothing listens there, but the service sees it. */
  readonly port: number
  readonly caller: string
  /** How many calls led to this one. */
  readonly hops: number
}

/** As what the error of the client's socket is made of. */
export interface AskedRefusal {
  readonly message: string
  readonly code: string
}

/** Names have up to 63 characters, and the token 43. */
export const maxPreamble = 512

const version = 'BUSBAR/1'

export function writePreamble({ token, verb, service, port, caller, hops }: Preamble): string {
  return `${[version, token, verb, service, port, caller, hops].join(' ')}\n`
}

/** Undefined for a line that is none. */
export function readPreamble(line: string): Preamble | undefined {
  const [start, token, verb, service, port, caller, hops, ...rest] = line.split(' ')
  if (start !== version || rest.length > 0 || hops === undefined) return undefined
  if (verb !== 'connect' && verb !== 'ask') return undefined
  const numbers = { port: Number(port), hops: Number(hops) }
  if (!Object.values(numbers).every((number) => Number.isSafeInteger(number) && number >= 0)) return undefined
  return { token: token!, verb, service: service!, caller: caller!, ...numbers }
}
