import { noStatus } from '../../shared/metrics/edge-table.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from './exchange.ts'

/**
 * Stands between a caller and an exchange, and passes on what each says. A subclass observes some
 * of it.
 */
export abstract class ForwardingExchange implements ExchangeHandler, Exchange {
  /** Of the response, once it has begun. */
  protected status = noStatus
  readonly #handler: ExchangeHandler
  #exchange: Exchange | undefined

  constructor(handler: ExchangeHandler) {
    this.#handler = handler
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
    this.#exchange!.abort(error)
  }

  // Called by the exchange

  onInformation(status: number, headers: Readonly<Record<string, string | string[]>>): void {
    this.#handler.onInformation?.(status, headers)
  }

  onHead(head: ResponseHead): void {
    this.status = head.status
    this.#handler.onHead(head)
  }

  onData(chunk: Uint8Array | string): boolean {
    return this.#handler.onData(chunk)
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#handler.onEnd(trailers)
  }

  onError(error: Error): void {
    this.#handler.onError(error)
  }

  onDrain(): void {
    this.#handler.onDrain?.()
  }
}
