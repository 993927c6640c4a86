import { ChunkQueue } from '../chunk-queue.ts'
import { ownBytes, type BodySupply, type Chunk, type Conversion } from '../clients/body-values.ts'

/**
 * Stalled bodies, by the response through which they would be read. If the response is collected,
 * nothing can read the body, and its exchange would wait forever.
 */
const abandoned = new FinalizationRegistry<FetchBody>((body) => body.abandon())

/** Bytes that are buffered for the reader; about as many as in the built-in `fetch`. */
const highWaterMark = 65_536

type Consumer =
  | { readonly kind: 'none' }
  | { readonly kind: 'whole'; finish(): void; fail(error: unknown): void }
  | { readonly kind: 'stream'; readonly controller: ReadableByteStreamController; pulled: (() => void) | undefined }

/**
 * The body of a response, between its exchange and its reader. Chunks are kept as they arrive, so
 * that reading the whole body needs no stream. A stream is created only on demand.
 */
export class FetchBody {
  readonly #chunks = new ChunkQueue()
  #size = 0
  #consumer: Consumer = { kind: 'none' }
  #state: 'arriving' | 'ended' | 'failed' = 'arriving'
  #error: unknown
  readonly #supply: BodySupply
  readonly #signal: AbortSignal | undefined
  /** The whole body is being read, or was read. */
  taken = false
  #owner: Response | undefined

  constructor(signal: AbortSignal | undefined, supply: BodySupply) {
    this.#signal = signal
    this.#supply = supply
  }

  /**
   * Sets the response that gives access to the body. It is registered only when the body stalls.
   */
  setOwner(response: Response): void {
    if (this.#state === 'arriving') this.#owner = response
  }

  /** Returns false if the exchange must wait. */
  push(chunk: Chunk): boolean {
    if (this.#state !== 'arriving' || chunk.length === 0) return true
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#consumer.kind === 'whole') return true
    if (this.#consumer.kind === 'stream') this.#feed(this.#consumer)
    if (this.#size < highWaterMark) return true
    if (this.#owner !== undefined) abandoned.register(this.#owner, this)
    this.#owner = undefined
    return false
  }

  end(): void {
    if (this.#state !== 'arriving') return
    this.#state = 'ended'
    this.#owner = undefined
    this.#settle()
  }

  fail(error: unknown): void {
    if (this.#state !== 'arriving') return
    this.#state = 'failed'
    this.#error = error
    this.#chunks.takeAll()
    this.#owner = undefined
    this.#settle()
  }

  /** The response was collected. Aborts, unless a stream is in use. */
  abandon(): void {
    if (this.#consumer.kind === 'none' && this.#state === 'arriving') this.#supply.abort()
  }

  /**
   * Reads the whole body. May be called once, and not after {@link FetchBody.stream}, which returns
   * an empty stream from then on.
   */
  consume<T>(convert: Conversion<T>): Promise<T> {
    this.taken = true
    if (this.#signal?.aborted) return Promise.reject(this.#signal.reason)
    if (this.#state === 'failed') return Promise.reject(this.#error)
    if (this.#state === 'ended') return this.#convert(convert)
    return new Promise((resolve, reject) => {
      this.#consumer = { kind: 'whole', finish: () => resolve(this.#convert(convert)), fail: reject }
      this.#supply.resume()
    })
  }

  stream(): ReadableStream<Uint8Array> {
    if (this.taken) return new ReadableStream({ type: 'bytes', start: (controller) => controller.close() })
    return new ReadableStream({
      type: 'bytes',
      start: (controller) => this.#startStream(controller),
      pull: () => this.#pull(),
      cancel: (reason) => this.#cancel(reason),
    })
  }

  #convert<T>(convert: Conversion<T>): Promise<T> {
    const chunks = this.#chunks.takeAll()
    try {
      return Promise.resolve(convert(chunks))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #settle(): void {
    const consumer = this.#consumer
    if (consumer.kind === 'stream') return this.#feed(consumer)
    if (consumer.kind === 'none') return
    if (this.#state === 'ended') consumer.finish()
    else consumer.fail(this.#error)
  }

  #startStream(controller: ReadableByteStreamController): void {
    this.#consumer = { kind: 'stream', controller, pulled: undefined }
  }

  #pull(): Promise<void> | undefined {
    const consumer = this.#consumer as Consumer & { kind: 'stream' }
    return new Promise((resolve) => {
      consumer.pulled = resolve
      this.#feed(consumer)
    })
  }

  /** Passes one chunk to the stream for each pull. */
  #feed(consumer: Consumer & { kind: 'stream' }): void {
    const { controller, pulled } = consumer
    if (this.#state === 'failed' || this.#signal?.aborted) return this.#failStream(consumer)
    if (pulled === undefined) return
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) {
      const full = this.#size >= highWaterMark
      this.#size -= chunk.length
      controller.enqueue(ownBytes(chunk))
      if (full && this.#size < highWaterMark && this.#state === 'arriving') this.#supply.resume()
    } else if (this.#state === 'ended') closeStream(controller)
    else return
    consumer.pulled = undefined
    pulled()
  }

  #failStream({ controller, pulled }: Consumer & { kind: 'stream' }): void {
    controller.error(this.#state === 'failed' ? this.#error : this.#signal?.reason)
    pulled?.()
  }

  #cancel(reason: unknown): void {
    if (this.#state !== 'arriving') return
    this.#state = 'failed'
    this.#error = reason
    this.#supply.abort()
  }
}

/** A pending BYOB request must be answered before the stream can close. */
function closeStream(controller: ReadableByteStreamController): void {
  controller.close()
  controller.byobRequest?.respond(0)
}
