import { noStatus } from '../../shared/metrics/edge-table.ts'
import type { ExchangeHandler } from '../http/exchange.ts'
import { ForwardingExchange } from '../http/forwarding-exchange.ts'
import type { TracedCall } from './traced-call.ts'

/** Counts the bytes of a traced exchange. `endsCall`: the span ends with the exchange. */
export class MeasuredExchange extends ForwardingExchange {
  readonly #call: TracedCall
  readonly #endsCall: boolean

  constructor(handler: ExchangeHandler, call: TracedCall, endsCall: boolean) {
    super(handler)
    this.#call = call
    this.#endsCall = endsCall
    if (endsCall) call.begin()
  }

  /** `body`: what is sent at once. */
  sends(body: string | Uint8Array | null): void {
    if (body !== null) this.#call.details.sent += Buffer.byteLength(body)
  }

  override write(chunk: string | Uint8Array): boolean {
    this.sends(chunk)
    return super.write(chunk)
  }

  override onData(chunk: string | Uint8Array): boolean {
    this.#call.details.received += Buffer.byteLength(chunk)
    return super.onData(chunk)
  }

  override onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    if (this.#endsCall) this.#call.end(this.status)
    super.onEnd(trailers)
  }

  override onError(error: Error): void {
    if (this.#endsCall) this.#call.end(noStatus)
    super.onError(error)
  }
}
