import type { CountedEdge } from '../../../mesh/meter.ts'
import type { ExchangeHandler } from '../../../mesh/http/exchange.ts'
import { ForwardingExchange } from '../../../mesh/http/forwarding-exchange.ts'
import { CallOutcome } from '../call-outcome.ts'

/** Counts a call to another worker when the response is complete, or the call has failed. */
export class CountedCall extends ForwardingExchange {
  readonly #outcome: CallOutcome
  #isAborted = false

  constructor(handler: ExchangeHandler, edge: CountedEdge) {
    super(handler)
    this.#outcome = new CallOutcome(edge)
  }

  override abort(error?: Error): void {
    this.#isAborted = true
    super.abort(error)
  }

  onRetry(): void {
    this.#outcome.retried()
  }

  override onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#outcome.end(this.status, undefined, false)
    super.onEnd(trailers)
  }

  override onError(error: Error): void {
    this.#outcome.end(this.status, error, this.#isAborted)
    super.onError(error)
  }
}
