import { type ErrorRecord, restoreError } from '../../contract/errors.ts'
import type { Channel, ChannelHandler } from '../links/link.ts'
import type { Exchange } from './exchange.ts'
import { areFields, isChunk, malformed } from './wire.ts'

/** Receives the rest of a request over a link: body, trailers, cancellation. */
export class RequestReceiver implements ChannelHandler {
  readonly #service: string
  readonly #channel: Channel
  readonly #exchange: Exchange
  readonly #response: { channelDrained(): void }
  /** Body values that the program has not consumed yet. */
  #unconsumed = 0
  #ended = false

  constructor(service: string, channel: Channel, exchange: Exchange, response: { channelDrained(): void }) {
    this.#service = service
    this.#channel = channel
    this.#exchange = exchange
    this.#response = response
  }

  get ended(): boolean {
    return this.#ended
  }

  onData(value: unknown): void {
    this.#unconsumed++
    if (!isChunk(value)) this.#exchange.abort(malformed('the body', this.#service))
    else if (this.#exchange.write(value)) this.consumed()
  }

  onEnd(trailers: unknown): void {
    this.#ended = true
    if (trailers == null || areFields(trailers)) this.#exchange.end(trailers ?? undefined)
    else this.#exchange.abort(malformed('the trailers', this.#service))
  }

  onCancel(reason: ErrorRecord): void {
    this.#exchange.abort(restoreError(reason))
  }

  onDrain(): void {
    this.#response.channelDrained()
  }

  /** The program has read all body values so far. */
  consumed(): void {
    const count = this.#unconsumed
    this.#unconsumed = 0
    if (count > 0) this.#channel.consumed(count)
  }
}
