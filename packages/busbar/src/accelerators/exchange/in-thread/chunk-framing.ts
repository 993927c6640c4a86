import type { ServerResponse } from 'node:http'
import { type SendCallback, writeRaw } from '../../../node/response.ts'
import type { VirtualSocket } from './virtual-socket.ts'

/**
 * Takes the framing off a response in chunks, where Node's code puts it on: one send with a chunk's length, one with a
 * line break, one for each piece of data, one with a line break and the callback; at the end one with a zero and the
 * trailers (`write_`, `uncork` and `end` in lib/_http_outgoing.js).
 */
export class ChunkFraming {
  readonly #socket: VirtualSocket
  #next: 'length' | 'break' | 'data' = 'length'
  /** Of the chunk that is being sent: bytes to come. */
  #left = 0
  /** A piece waits for the break behind it, which has the callback. */
  #piece: string | Uint8Array = ''
  #encoding: BufferEncoding | null | undefined

  constructor(socket: VirtualSocket) {
    this.#socket = socket
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
    // Node 26 keeps writes of nothing among the pieces of a chunk, behind the last one too: they are not its break.
    else if (data.length > 0) return this.#finish(response, callback)
    return true
  }

  #begin(response: ServerResponse, data: string, callback: SendCallback): boolean {
    // Nothing but the head, or a write of nothing, which may be bytes.
    if (data.length === 0) return writeRaw(response, '', null, callback)
    if (data.startsWith('0\r\n')) {
      this.#socket.exchange?.takeTrailers(data.slice(3, -2))
      return writeRaw(response, '', null, callback)
    }
    this.#left = Number.parseInt(data, 16)
    this.#next = 'break'
    return true
  }

  #hold(response: ServerResponse, data: string | Uint8Array, encoding: BufferEncoding | null | undefined): void {
    // Several pieces make one chunk when they were corked together.
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
