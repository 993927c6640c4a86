import { BusbarError, type ErrorRecord } from '../../contract/errors.ts'
import type { Channel, ChannelHandler } from '../links/link.ts'
import type { Exchange } from './exchange.ts'
import { isChunk, malformed } from './wire.ts'

/** What else the caller says while its request is answered: the body, trailers, that it gave up. */
export class RequestReceiver implements ChannelHandler {
  readonly #service: string
  readonly #channel: Channel
  readonly #exchange: Exchange
  readonly #answer: { channelDrained(): void }
  /** Values of the body that the program has not taken yet. */
  #untaken = 0
  #ended = false

  constructor(service: string, channel: Channel, exchange: Exchange, answer: { channelDrained(): void }) {
    this.#service = service
    this.#channel = channel
    this.#exchange = exchange
    this.#answer = answer
  }

  get ended(): boolean {
    return this.#ended
  }

  onData(value: unknown): void {
    this.#untaken++
    if (!isChunk(value)) this.#exchange.abort(malformed('the body', this.#service))
    else if (this.#exchange.write(value)) this.taken()
  }

  onEnd(trailers: unknown): void {
    this.#ended = true
    this.#exchange.end(Array.isArray(trailers) ? (trailers as string[]) : undefined)
  }

  onCancel(reason: ErrorRecord): void {
    this.#exchange.abort(BusbarError.fromRecord(reason))
  }

  onDrain(): void {
    this.#answer.channelDrained()
  }

  /** The program has read what there was. */
  taken(): void {
    const count = this.#untaken
    this.#untaken = 0
    if (count > 0) this.#channel.consumed(count)
  }
}
