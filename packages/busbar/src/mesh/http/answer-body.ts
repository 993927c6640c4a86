import type { ResponseHead } from './exchange.ts'
import type { Chunk } from './wire.ts'

/**
 * Holds the body of a response to what its head states (RFC 9112, 6.3). A host of another app that
 * sends more would otherwise put it into what the client reads as the next response.
 */
export class AnswerBody {
  readonly #method: string
  /** Bytes to come. Infinity if the head does not state them. */
  #left = Infinity

  constructor(method: string) {
    this.#method = method
  }

  /** False if no client reads a length like that of the head. */
  begin({ status, headers }: ResponseHead): boolean {
    const { 'content-length': length, 'transfer-encoding': coding } = headers
    if (typeof length === 'string' && !digits.test(length)) return false
    if (this.#method === 'HEAD' || status === 204 || status === 304) this.#left = 0
    else if (typeof length === 'string' && coding === undefined) this.#left = Number(length)
    return true
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

const digits = /^\d+$/

/** Whether chunks end the body. With another coding only the end of the connection does. */
export function isChunked(coding: string | string[]): boolean {
  return /(?:^|[\s,])chunked\s*$/i.test([coding].flat().at(-1)!)
}
