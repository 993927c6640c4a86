import { lengthMismatch } from '../errors.ts'
import type { InThreadExchange } from './in-thread-exchange.ts'
import type { VirtualSocket } from './virtual-socket.ts'

/** As much as a socket's own buffer holds before `write` says to wait. */
const window = 64 * 1024

/**
 * A request's body on its way to the program, as fast as that reads it. Whole bodies beyond the window go this way too,
 * so that they can be aborted midway and never lie in the program's stream buffer at once.
 */
export class Upload {
  readonly #exchange: InThreadExchange
  /** The length that the request's head promised; -1 for chunks. */
  #promised: number
  #chunks: Uint8Array[] = []
  #size = 0
  #state: 'open' | 'ended' | 'complete' = 'open'
  #trailers: string[] | null = null
  #writerWaits = false
  #socket: VirtualSocket | undefined

  constructor(exchange: InThreadExchange, contentLength: number) {
    this.#exchange = exchange
    this.#promised = contentLength
  }

  static whole(exchange: InThreadExchange, bytes: Uint8Array): Upload {
    const upload = new Upload(exchange, bytes.length)
    for (let from = 0; from < bytes.length; from += window) upload.#add(bytes.subarray(from, from + window))
    upload.#state = 'ended'
    return upload
  }

  get complete(): boolean {
    return this.#state === 'complete'
  }

  /** `chunk` must be ours. False: wait for the exchange's `onDrain`. */
  write(chunk: Uint8Array): boolean {
    if (this.#state !== 'open' || chunk.length === 0) return true
    if (this.#promised >= 0 && (this.#promised -= chunk.length) < 0) {
      this.#exchange.abort(lengthMismatch())
      return true
    }
    this.#add(chunk)
    this.wanted()
    this.#writerWaits = this.#size >= window
    return !this.#writerWaits
  }

  end(rawTrailers: string[] | null): void {
    if (this.#state !== 'open') return
    if (this.#promised > 0) return this.#exchange.abort(lengthMismatch())
    // Only a body in chunks has a place for trailers.
    if (this.#promised === -1) this.#trailers = rawTrailers
    this.#state = 'ended'
    this.wanted()
  }

  /** The connection is there. A new one begins to read in the next tick: no data before, or it would forget a pause. */
  start(socket: VirtualSocket): void {
    this.#socket = socket
    this.wanted()
  }

  /** There may be something to pass on, in a turn of its own: a fast writer must not starve everybody else. */
  wanted(): void {
    if (this.#socket !== undefined && this.#state !== 'complete') this.#exchange.passUploadSoon()
  }

  /** Inside `endpoint.enter`: the program's `'data'` listeners run here. */
  pass(): void {
    const socket = this.#socket
    if (socket === undefined || this.#state === 'complete') return
    while (this.#chunks.length > 0 && socket.reading) {
      const chunk = this.#chunks.shift()!
      this.#size -= chunk.length
      socket.receive(chunk)
    }
    if (this.#state === 'ended' && this.#chunks.length === 0 && socket.reading) {
      this.#state = 'complete'
      socket.receiveEnd(this.#trailers)
    } else if (this.#writerWaits && this.#size < window) {
      this.#writerWaits = false
      this.#exchange.uploadDrained()
    }
  }

  #add(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
  }
}
