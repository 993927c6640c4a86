import type { MeasuredCall } from '../../../mesh/meter.ts'
import type { ExchangeHandler, ResponseHead } from '../../../mesh/http/exchange.ts'

/** Takes the time of one call until its answer is whole, or has failed. */
export class MeasuredHandler implements ExchangeHandler {
  readonly #handler: ExchangeHandler
  readonly #call: MeasuredCall

  constructor(handler: ExchangeHandler, call: MeasuredCall) {
    this.#handler = handler
    this.#call = call
  }

  onInformation(status: number, headers: Readonly<Record<string, string | string[]>>): void {
    this.#handler.onInformation?.(status, headers)
  }

  onHead(head: ResponseHead): void {
    this.#handler.onHead(head)
  }

  onData(chunk: Uint8Array | string): boolean {
    return this.#handler.onData(chunk)
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#call.end()
    this.#handler.onEnd(trailers)
  }

  onError(error: Error): void {
    this.#call.end()
    this.#handler.onError(error)
  }

  onDrain(): void {
    this.#handler.onDrain?.()
  }
}
