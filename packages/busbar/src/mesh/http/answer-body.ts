import { bodyFramingOf } from './body-framing.ts'
import type { ResponseHead } from './exchange.ts'
import type { Chunk } from './wire.ts'

/**
 * Holds the body of a response to what its head states. A host of another app that sends more would
 * otherwise put it into what the client reads as the next response.
 */
export class AnswerBody {
  readonly #method: string
  /** Bytes to come. Infinity if the head does not state them. */
  #left = Infinity

  constructor(method: string) {
    this.#method = method
  }

  /** False if no client accepts such a head. */
  begin(head: ResponseHead): boolean {
    const framing = bodyFramingOf(head, this.#method)
    if (framing?.kind === 'length') this.#left = framing.length
    return framing !== undefined
  }

  /** What of it belongs to the response. */
  take(chunk: Chunk): Chunk | undefined {
    if (this.#left === Infinity) return chunk
    const size = typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.byteLength
    const left = this.#left
    this.#left -= Math.min(size, left)
    if (size <= left) return chunk
    return left === 0 ? undefined : Buffer.from(chunk).subarray(0, left)
  }
}
