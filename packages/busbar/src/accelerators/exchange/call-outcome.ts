import type { CountedEdge } from '../../mesh/meter.ts'
import { noStatus } from '../../shared/metrics/edge-table.ts'

/** Counts a call from its beginning to its end, which may be an abort by the caller. */
export class CallOutcome {
  readonly #edge: CountedEdge
  readonly #began: number | undefined

  constructor(edge: CountedEdge) {
    this.#edge = edge
    this.#began = edge.begin()
  }

  /** The call has left its queue. */
  started(): void {
    this.#edge.started?.()
  }

  retried(): void {
    this.#edge.retried()
  }

  /** `status`: of the response, once it has begun. `failure`: why it is not complete. */
  end(status: number, failure: NodeJS.ErrnoException | undefined, isAborted: boolean): void {
    // A connection would have been refused, so the callee would not have counted the call.
    if (status === noStatus && notTaken.has(failure?.code ?? '')) return this.#edge.withdraw()
    // A response that the caller aborted counts by its status.
    const counts = failure === undefined || isAborted || status >= 500
    this.#edge.end(counts ? status : noStatus, this.#began)
  }
}

/** No instance has taken the call. */
const notTaken: ReadonlySet<string> = new Set(['ECONNREFUSED', 'SERVICE_UNAVAILABLE'])
