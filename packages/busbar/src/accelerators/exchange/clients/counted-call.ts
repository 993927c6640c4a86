import type { CountedEdge } from '../../../mesh/meter.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from '../../../mesh/http/exchange.ts'
import { noStatus } from '../../../shared/metrics/edge-table.ts'
import { CallOutcome } from '../call-outcome.ts'

/** Counts a call to another worker when the response is complete, or the call has failed. */
export class CountedCall implements ExchangeHandler, Exchange {
  readonly #handler: ExchangeHandler
  readonly #outcome: CallOutcome
  #exchange: Exchange | undefined
  #status = noStatus
  #isAborted = false

  constructor(handler: ExchangeHandler, edge: CountedEdge) {
    this.#handler = handler
    this.#outcome = new CallOutcome(edge)
  }

  /** Before anybody calls it: `exchange` has this as its handler. */
  over(exchange: Exchange): this {
    this.#exchange = exchange
    return this
  }

  // Called by the caller

  write(chunk: Uint8Array | string): boolean {
    return this.#exchange!.write(chunk)
  }

  end(trailers?: string[]): void {
    this.#exchange!.end(trailers)
  }

  resume(): void {
    this.#exchange!.resume()
  }

  abort(error?: Error): void {
    this.#isAborted = true
    this.#exchange!.abort(error)
  }

  // Called by the exchange

  onInformation(status: number, headers: Readonly<Record<string, string | string[]>>): void {
    this.#handler.onInformation?.(status, headers)
  }

  onHead(head: ResponseHead): void {
    this.#status = head.status
    this.#handler.onHead(head)
  }

  onData(chunk: Uint8Array | string): boolean {
    return this.#handler.onData(chunk)
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#outcome.end(this.#status, undefined, false)
    this.#handler.onEnd(trailers)
  }

  onError(error: Error): void {
    this.#outcome.end(this.#status, error, this.#isAborted)
    this.#handler.onError(error)
  }

  onDrain(): void {
    this.#handler.onDrain?.()
  }
}
