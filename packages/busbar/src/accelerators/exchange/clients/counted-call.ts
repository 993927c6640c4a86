import type { CountedEdge } from '../../../mesh/meter.ts'
import type { ExchangeHandler } from '../../../mesh/http/exchange.ts'
import { ForwardingExchange } from '../../../mesh/http/forwarding-exchange.ts'
import { endCall } from '../call-outcome.ts'

/** Counts a call to another worker when the response is complete, or the call has failed. */
export class CountedCall extends ForwardingExchange {
  readonly #edge: CountedEdge
  readonly #began: number | undefined
  #isAborted = false

  constructor(handler: ExchangeHandler, edge: CountedEdge) {
    super(handler)
    this.#edge = edge
    this.#began = edge.begin()
  }

  override abort(error?: Error): void {
    this.#isAborted = true
    super.abort(error)
  }

  onRetry(): void {
    this.#edge.retried()
  }

  override onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    endCall(this.#edge, this.#began, this.status, undefined, false)
    super.onEnd(trailers)
  }

  override onError(error: Error): void {
    endCall(this.#edge, this.#began, this.status, error, this.#isAborted)
    super.onError(error)
  }
}
