import type { ServerResponse } from 'node:http'
import { type SendCallback, writeRaw } from '../../../node/response.ts'

/** Receives the trailers of a chunked response, as lines of text. */
export interface TrailerReceiver {
  receiveTrailers(lines: string): void
}

/**
 * Removes the framing of a chunked response just after Node's code has added it. Node sends the
 * chunk's length, a line break, each piece of data, and a line break with the callback; at the end
 * a zero with the trailers (`write_`, `uncork` and `end` in lib/_http_outgoing.js).
 */
export class ChunkFraming {
  readonly #receiver: TrailerReceiver
  #next: 'length' | 'break' | 'data' = 'length'
  /** Bytes to come of the current chunk. */
  #left = 0
  /** A piece is held until the line break after it, which has the callback. */
  #piece: string | Uint8Array = ''
  #encoding: BufferEncoding | null | undefined

  constructor(receiver: TrailerReceiver) {
    this.#receiver = receiver
  }

  send(
    response: ServerResponse,
    data: string | Uint8Array,
    encoding: BufferEncoding | null | undefined,
    callback: SendCallback,
  ): boolean {
    if (this.#next === 'length') return this.#begin(response, data as string, callback)
    if (this.#next === 'break') this.#next = 'data'
    else if (this.#left > 0) this.#hold(response, data, encoding)
    // Node 26 keeps empty writes among the pieces of a chunk, also after the last one. They are not
    // the line break.
    else if (data.length > 0) return this.#finish(response, callback)
    return true
  }

  #begin(response: ServerResponse, data: string, callback: SendCallback): boolean {
    // Only the head, or an empty write, which may be bytes.
    if (data.length === 0) return writeRaw(response, '', null, callback)
    if (data.startsWith('0\r\n')) {
      this.#receiver.receiveTrailers(data.slice(3, -2))
      return writeRaw(response, '', null, callback)
    }
    this.#left = Number.parseInt(data, 16)
    this.#next = 'break'
    return true
  }

  #hold(response: ServerResponse, data: string | Uint8Array, encoding: BufferEncoding | null | undefined): void {
    // Corked writes make one chunk of several pieces.
    if (this.#piece !== '') writeRaw(response, this.#piece, this.#encoding)
    this.#left -= typeof data === 'string' ? Buffer.byteLength(data, encoding ?? 'utf8') : data.byteLength
    this.#piece = data
    this.#encoding = encoding
  }

  #finish(response: ServerResponse, callback: SendCallback): boolean {
    const piece = this.#piece
    this.#piece = ''
    this.#next = 'length'
    return writeRaw(response, piece, this.#encoding, callback)
  }
}
