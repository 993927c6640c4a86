import { noWorker } from '../../shared/metrics/worker-pair.ts'
import { noStatus } from '../../shared/metrics/edge-table.ts'
import type { CountedEdge } from '../meter.ts'
import { answererAt, type Endpoint } from '../routing/endpoint.ts'
import type { ExchangeHandler } from './exchange.ts'
import { ForwardingExchange } from './forwarding-exchange.ts'

/** Counts a call over a link when the response is complete, or the call has failed. */
export class CountedCall extends ForwardingExchange {
  readonly #edge: CountedEdge
  readonly #began: number | undefined
  #isAborted = false
  /** The worker of the instance that has the request, as for `end` of an edge. */
  #callee: number | undefined
  readonly #caller: number | undefined

  /** `caller`: its worker, if that is not this one. */
  constructor(handler: ExchangeHandler, edge: CountedEdge, endpoint: Endpoint, caller?: number) {
    super(handler)
    this.#edge = edge
    this.#callee = answererAt(endpoint)
    this.#caller = caller
    this.#began = edge.begin()
  }

  override abort(error?: Error): void {
    this.#isAborted = true
    super.abort(error)
  }

  /** Nothing was sent. */
  withdraw(): void {
    this.#edge.withdraw()
  }

  onWaited(milliseconds: number): void {
    this.#edge.waited?.(milliseconds)
  }

  onRetry(callee: number | undefined): void {
    this.#edge.retried()
    this.#callee = callee
  }

  onRefused(): void {
    this.#callee = noWorker
  }

  override onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#count(undefined, false)
    super.onEnd(trailers)
  }

  override onError(error: Error): void {
    this.#count(error, this.#isAborted)
    super.onError(error)
  }

  #count(failure: Error | undefined, isAborted: boolean): void {
    endCall(this.#edge, this.#began, this.status, failure, isAborted, this.#callee, this.#caller)
  }
}

/**
 * Counts how a call has ended: `began`: what `edge.begin()` returned. `status`: of the response,
 * once it has begun. `failure`: why it is not complete. The caller itself may have aborted it.
 * `callee` and `caller`: as for `edge.end`.
 */
export function endCall(
  edge: CountedEdge,
  began: number | undefined,
  status: number,
  failure: NodeJS.ErrnoException | undefined,
  isAborted: boolean,
  callee?: number,
  caller?: number,
): void {
  // A connection would have been refused, so the callee would not have counted the call.
  if (status === noStatus && notTaken.has(failure?.code ?? '')) return edge.withdraw()
  // A response that the caller aborted counts by its status.
  const counts = failure === undefined || isAborted || status >= 500
  edge.end(counts ? status : noStatus, began, callee, caller)
}

/** No instance has taken the call. */
const notTaken: ReadonlySet<string> = new Set(['ECONNREFUSED', 'SERVICE_UNAVAILABLE'])
