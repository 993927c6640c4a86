import type { Transport } from '../metrics/edge-table.ts'

/**
 * One span of a trace. `call`: a whole call, recorded where it is counted for its edge; exactly one
 * for each call of an edge. `answer`: the part of such a call in the worker of the instance.
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
  /** The HTTP method, or the method of the contract. */
  readonly method: string
  /** Of HTTP: the path without its query, cut to {@link maxPath}. */
  readonly path: string | undefined
  /** Of HTTP: the route by which it is counted. Absent if there is none. */
  readonly route?: string | undefined
  /** Undefined: the span of the other part has it. */
  readonly transport: Transport | undefined
  /** Milliseconds since 1970, with fractions. */
  readonly start: number
  /** Milliseconds; of these, `queue` passed before the service's code ran. */
  readonly duration: number
  readonly queue: number
  /** Bytes of the request's and the response's body, as far as this side knows them. */
  readonly sent: number
  readonly received: number
  /** HTTP status; of a failed typed call, the status of its error. 0: no response. */
  readonly status: number
  /** How often the call was sent again. */
  readonly retries: number
  /** Of a counted call: the workers that made and answered it, of `pairOf` of `worker-pair.ts`. */
  readonly workers?: number | undefined
  /** Absent if there is none, or one beyond {@link maxTracestate}. */
  readonly tracestate?: string | undefined
}

/** What spans of the same kind have in common. */
export type SpanKind = Pick<SpanRecord, 'part' | 'caller' | 'service' | 'protocol' | 'method' | 'route' | 'transport'>

export const maxPath = 256

/** Characters that everyone has to pass on (W3C Trace Context, 3.3.1.5). */
const maxTracestate = 512

/** What a span keeps of its context, besides its ids. */
export function stateOf(tracestate: string | undefined): Pick<SpanRecord, 'tracestate'> {
  return tracestate === undefined || tracestate.length > maxTracestate ? {} : { tracestate }
}

/** The calls that are recorded even if their trace is not sampled. */
export function isFailedSpan({ status }: Pick<SpanRecord, 'status'>): boolean {
  return status === 0 || status >= 500
}
