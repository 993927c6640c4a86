import type { Exchange, ExchangeHandler, ResponseHead } from '../http/exchange.ts'
import { noStatus } from '../../shared/metrics/edge-table.ts'
import type { TracedCall } from './tracer.ts'

/** Counts the bytes of a traced exchange. If `endsCall`, its end is that of the span. */
export class MeasuredExchange implements ExchangeHandler, Exchange {
  readonly #handler: ExchangeHandler
  readonly #call: TracedCall
  readonly #endsCall: boolean
  #exchange: Exchange | undefined
  #status = noStatus

  constructor(handler: ExchangeHandler, call: TracedCall, endsCall: boolean) {
    this.#handler = handler
    this.#call = call
    this.#endsCall = endsCall
    if (endsCall) call.begin()
  }

  /** Before anybody calls it: `exchange` has this as its handler. */
  over(exchange: Exchange, body: string | Uint8Array | null): this {
    this.#exchange = exchange
    if (body !== null) this.#call.sent += Buffer.byteLength(body)
    return this
  }

  write(chunk: string | Uint8Array): boolean {
    this.#call.sent += Buffer.byteLength(chunk)
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

  onInformation(status: number, headers: Readonly<Record<string, string | string[]>>): void {
    this.#handler.onInformation?.(status, headers)
  }

  onHead(head: ResponseHead): void {
    this.#status = head.status
    this.#handler.onHead(head)
  }

  onData(chunk: string | Uint8Array): boolean {
    this.#call.received += Buffer.byteLength(chunk)
    return this.#handler.onData(chunk)
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    if (this.#endsCall) this.#call.end(this.#status)
    this.#handler.onEnd(trailers)
  }

  onError(error: Error): void {
    if (this.#endsCall) this.#call.end(noStatus)
    this.#handler.onError(error)
  }

  onDrain(): void {
    this.#handler.onDrain?.()
  }
}
