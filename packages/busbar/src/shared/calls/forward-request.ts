import { connect, type Socket } from 'node:net'
import type { CallAccess } from './call-access.ts'

/**
 * The first line on a connection from a Node program outside the workers. The client's protocol
 * follows, such as HTTP.
 *
 *     BUSBAR/1 <token> connect|ask <service> <port> <caller> <hops>
 */
export interface ForwardRequest {
  readonly token: string
  /**
   * `ask`: would a connection be accepted? The answer is a line of JSON, null or a
   * {@link ForwardRefusal}.
   */
  readonly verb: 'connect' | 'ask'
  readonly service: string
  /** The port in the client's URL. Nothing listens there, but the service sees it. */
  readonly port: number
  readonly caller: string
  /** How many calls led to this one. */
  readonly hops: number
}

/** Message and code for the error of the client's socket. */
export interface ForwardRefusal {
  readonly message: string
  readonly code: string
}

/** Bytes. Names have up to 63 characters, and the token has 43. */
export const maxForwardRequest = 512

const version = 'BUSBAR/1'

export function writeForwardRequest({ token, verb, service, port, caller, hops }: ForwardRequest): string {
  return `${[version, token, verb, service, port, caller, hops].join(' ')}\n`
}

/** Undefined for an invalid line. */
export function readForwardRequest(line: string): ForwardRequest | undefined {
  const [start, token, verb, service, port, caller, hops, ...rest] = line.split(' ')
  if (start !== version || rest.length > 0 || hops === undefined) return undefined
  if (verb !== 'connect' && verb !== 'ask') return undefined
  const numbers = { port: Number(port), hops: Number(hops) }
  if (!Object.values(numbers).every((number) => Number.isSafeInteger(number) && number >= 0)) return undefined
  return { token: token!, verb, service: service!, caller: caller!, ...numbers }
}

/** Opens a connection to a service from the process that supervises the app. */
export function connectToService({ ports, token }: CallAccess, service: string): Socket {
  const socket = connect({ host: '127.0.0.1', port: ports.find(({ route }) => route === undefined)!.port })
  // Writes are queued while a socket connects. The caller is not a service, so it has no name.
  socket.write(writeForwardRequest({ token, verb: 'connect', service, port: 80, caller: '', hops: 0 }))
  return socket
}
