import type { CallId } from '../../shared/control.ts'

/**
 * The first line on a connection to an instance's private socket: in whose name it is made. What follows is whatever the client
 * speaks. Only this user can connect there, so that it is believed.
 *
 *     BUSBAR/1 <hops> <caller> <port of the caller's end> <port in the client's URL>
 */
export interface Opening {
  /** How many calls led to this one, for requests that do not say it themselves. */
  readonly hops: number
  /** The service that calls; undefined where that is not known, or measures by itself how long its calls take. */
  readonly caller: string | undefined
  readonly callerPort: number
  readonly port: number
  /** By which a caller in another worker knows the connection, where that came over a link. */
  readonly call?: CallId | undefined
  /** Whether the caller has closed the connection, which its socket here may hear of a turn later. */
  readonly isGone?: (() => boolean) | undefined
}

/** A name has up to 63 characters. */
export const maxOpening = 128

const version = 'BUSBAR/1'
/** No service has this name. */
const nobody = '-'

export function writeOpening({ hops, caller = nobody, callerPort, port }: Opening): string {
  return `${[version, hops, caller, callerPort, port].join(' ')}\n`
}

/** Undefined for a line that is none. */
export function readOpening(line: string): Opening | undefined {
  const [start, hops, caller, callerPort, port, ...rest] = line.split(' ')
  if (start !== version || caller === undefined || rest.length > 0) return undefined
  const numbers = { hops: Number(hops), callerPort: Number(callerPort), port: Number(port) }
  if (!Object.values(numbers).every((number) => Number.isSafeInteger(number) && number >= 0)) return undefined
  return { ...numbers, caller: caller === nobody ? undefined : caller }
}
