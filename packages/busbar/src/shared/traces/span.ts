import type { Transport } from '../metrics/edge-table.ts'

/**
 * One span of a trace. `call`: a whole call, as the one who counts it for its edge sees it; exactly
 * one for each call of an edge. `answer`: of such a call, the part in the worker of the instance.
 */
export interface SpanRecord {
  readonly part: 'call' | 'answer'
  /** 32 hexadecimal digits. */
  readonly trace: string
  /** 16 hexadecimal digits. */
  readonly id: string
  /** The span that caused this one, if any. It may be of a program, or from outside. */
  readonly parent: string | undefined
  /** Undefined: outside the app. */
  readonly caller: string | undefined
  readonly service: string
  readonly protocol: 'http' | 'rpc'
  /** Of HTTP, or of the contract. */
  readonly method: string
  /** Of HTTP: the path without its query, cut to {@link maxPath}. */
  readonly path: string | undefined
  /** Undefined: the other part of the call knows it. */
  readonly transport: Transport | undefined
  /** Milliseconds since 1970, with fractions. */
  readonly start: number
  /** Milliseconds; of these, `queue` passed before the service's code ran. */
  readonly duration: number
  readonly queue: number
  /** Bytes of the request's and the response's body, as far as this side knows them. */
  readonly sent: number
  readonly received: number
  /** Of HTTP; a typed call has that of its error. 0: none came. */
  readonly status: number
}

export const maxPath = 256

/** The calls that are recorded even if their trace is not sampled. */
export function isFailedSpan({ status }: Pick<SpanRecord, 'status'>): boolean {
  return status === 0 || status >= 500
}
