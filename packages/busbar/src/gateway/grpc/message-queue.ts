import type { FramedMessage } from '../../contract/grpc/framing.ts'
import type { GrpcCarrier } from '../../shared/entrance/grpc-carrier.ts'

/** Messages that may wait before the client has to. */
const maxWaiting = 16

/**
 * The messages of a client that streams, read one at a time. A slow reader slows the client down.
 */
export class MessageQueue implements AsyncIterable<FramedMessage> {
  readonly #carrier: GrpcCarrier
  readonly #messages: FramedMessage[] = []
  #state: 'open' | 'ended' | 'closed' = 'open'
  #isPaused = false
  #wake: (() => void) | undefined

  constructor(carrier: GrpcCarrier) {
    this.#carrier = carrier
  }

  push(message: FramedMessage): void {
    if (this.#state !== 'open') return
    this.#messages.push(message)
    if (this.#messages.length >= maxWaiting && !this.#isPaused) {
      this.#isPaused = true
      this.#carrier.pause()
    }
    this.#wake?.()
  }

  /** The client has sent everything. */
  end(): void {
    if (this.#state === 'open') this.#state = 'ended'
    this.#wake?.()
  }

  /** The call is over: nothing is read any more, and what arrives is dropped. */
  close(): void {
    this.#state = 'closed'
    this.#messages.length = 0
    if (this.#isPaused) this.#carrier.resume()
    this.#isPaused = false
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FramedMessage, void, undefined> {
    for (;;) {
      const message = this.#messages.shift()
      if (message !== undefined) {
        this.#resumeIfLow()
        yield message
      } else if (this.#state !== 'open') return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #resumeIfLow(): void {
    if (!this.#isPaused || this.#messages.length > maxWaiting / 2) return
    this.#isPaused = false
    this.#carrier.resume()
  }
}
