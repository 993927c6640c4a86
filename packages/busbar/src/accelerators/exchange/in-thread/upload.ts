import { ChunkQueue } from '../chunk-queue.ts'
import { lengthMismatch } from '../errors.ts'

/** Bytes that wait before `write` returns false, as in a socket's own buffer. */
const window = 64 * 1024

/** The call that an upload belongs to. */
export interface UploadOwner {
  abort(error: Error): void
  /** Calls {@link RequestUpload.pass} in a later turn of the event loop. */
  passUploadSoon(): void
  uploadDrained(): void
}

/** The program's end of the connection. */
export interface UploadTarget {
  /** The program reads now. */
  readonly reading: boolean
  receive(chunk: Uint8Array): void
  receiveEnd(rawTrailers: string[] | null): void
}

/**
 * A request's body on its way to the program, as fast as the program reads. Large bodies that are
 * complete go this way too: they can be aborted midway, and do not fill the program's stream buffer
 * at once.
 */
export class RequestUpload {
  readonly #owner: UploadOwner
  /** Bytes to come of the stated length; -1 for chunks. */
  #left: number
  readonly #chunks = new ChunkQueue<Uint8Array>()
  #size = 0
  #state: 'open' | 'ended' | 'complete' = 'open'
  #trailers: string[] | null = null
  #isWriterWaiting = false
  #target: UploadTarget | undefined

  constructor(owner: UploadOwner, contentLength: number) {
    this.#owner = owner
    this.#left = contentLength
  }

  static whole(owner: UploadOwner, bytes: Uint8Array): RequestUpload {
    const upload = new RequestUpload(owner, bytes.length)
    for (let from = 0; from < bytes.length; from += window) upload.#add(bytes.subarray(from, from + window))
    upload.#state = 'ended'
    return upload
  }

  get complete(): boolean {
    return this.#state === 'complete'
  }

  /** `chunk` must not be changed later. Returns false if the caller must wait for `onDrain`. */
  write(chunk: Uint8Array): boolean {
    if (this.#state !== 'open' || chunk.length === 0) return true
    if (this.#left >= 0 && (this.#left -= chunk.length) < 0) {
      this.#owner.abort(lengthMismatch())
      return true
    }
    this.#add(chunk)
    this.schedule()
    this.#isWriterWaiting = this.#size >= window
    return !this.#isWriterWaiting
  }

  end(rawTrailers: string[] | null): void {
    if (this.#state !== 'open') return
    if (this.#left > 0) return this.#owner.abort(lengthMismatch())
    // Only a chunked body can have trailers.
    if (this.#left === -1) this.#trailers = rawTrailers
    this.#state = 'ended'
    this.schedule()
  }

  /**
   * The connection exists. A new one begins to read in the next tick. It must get no data before,
   * or it would ignore a pause.
   */
  start(target: UploadTarget): void {
    this.#target = target
    this.schedule()
  }

  /** Passes data in a later turn of the event loop: a fast writer must not starve other calls. */
  schedule(): void {
    if (this.#target !== undefined && this.#state !== 'complete') this.#owner.passUploadSoon()
  }

  /**
   * Passes data while the program reads. Runs its `'data'` listeners, so inside `endpoint.enter`.
   */
  pass(): void {
    const target = this.#target
    if (target === undefined || this.#state === 'complete') return
    while (!this.#chunks.isEmpty && target.reading) {
      const chunk = this.#chunks.shift()!
      this.#size -= chunk.length
      target.receive(chunk)
    }
    if (this.#state === 'ended' && this.#chunks.isEmpty && target.reading) {
      this.#state = 'complete'
      target.receiveEnd(this.#trailers)
    } else if (this.#isWriterWaiting && this.#size < window) {
      this.#isWriterWaiting = false
      this.#owner.uploadDrained()
    }
  }

  #add(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
  }
}
