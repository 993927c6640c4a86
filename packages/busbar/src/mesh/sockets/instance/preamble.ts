import type { CallId } from '../../../shared/calls/call-id.ts'
import type { Transport } from '../../../shared/metrics/edge-table.ts'

/**
 * The first line on a connection to an instance's private socket: who connects. The client's
 * protocol follows. The line is trusted, because only this user can connect there.
 *
 *     BUSBAR/1 <hops> <caller> <port of the caller's end> <port in the client's URL> [<worker>]
 */
export interface ConnectionPreamble {
  /** The hop count of requests without a hop header. */
  readonly hops: number
  /**
   * The calling service. Undefined if it is unknown, or measures the latency of its calls itself.
   */
  readonly caller: string | undefined
  readonly callerPort: number
  readonly port: number
  /** The worker of the calling service, as an edge counts it. Undefined if it is unknown. */
  readonly worker?: number | undefined
  /** The id of the connection at a caller in another worker, if it arrived over a link. */
  readonly call?: CallId | undefined
  /** Undefined: the private socket itself. */
  readonly transport?: Transport | undefined
  /** True if the caller has closed the connection. The socket here may see that a turn later. */
  readonly isGone?: (() => boolean) | undefined
}

/** Bytes. A service's name has up to 63 characters. */
export const maxPreamble = 128

const version = 'BUSBAR/1'
/** Not a valid service name. */
const noCaller = '-'

/**
 * The caller of a health check. Its requests are no calls: they are not counted, and do not wait
 * for a free slot of a service with `concurrency`. Not a valid service name either.
 */
export const healthCheckCaller = '+'

export function writePreamble({ hops, caller = noCaller, callerPort, port, worker }: ConnectionPreamble): string {
  const words = [version, hops, caller, callerPort, port]
  return `${(worker === undefined ? words : [...words, worker]).join(' ')}\n`
}

/** Undefined for an invalid line. */
export function readPreamble(line: string): ConnectionPreamble | undefined {
  const [start, hops, caller, callerPort, port, worker = 0, ...rest] = line.split(' ')
  if (start !== version || caller === undefined || rest.length > 0) return undefined
  const numbers = { hops: Number(hops), callerPort: Number(callerPort), port: Number(port), worker: Number(worker) }
  if (!Object.values(numbers).every((number) => Number.isSafeInteger(number) && number >= 0)) return undefined
  return { ...numbers, caller: caller === noCaller ? undefined : caller }
}
