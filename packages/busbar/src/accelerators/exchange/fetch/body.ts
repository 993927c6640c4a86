/** Bodies that wait for a reader, by the response through which one would come: their exchanges would wait for ever. */
const abandoned = new FinalizationRegistry<FetchBody>((body) => body.abandon())

/** Until the reader asks for more; the built-in holds about as much. */
const highWaterMark = 65_536

export type Chunk = Uint8Array | string

/** Where a body gets more from. */
export interface BodySupply {
  resume(): void
  abort(): void
}

/** Makes a value of a whole body. */
export type Conversion<T> = (chunks: readonly Chunk[]) => T

type Consumer =
  | { readonly kind: 'none' }
  | { readonly kind: 'whole'; finish(): void; fail(error: unknown): void }
  | { readonly kind: 'stream'; readonly controller: ReadableByteStreamController; pulled: (() => void) | undefined }

/**
 * The body of an answer between the exchange that brings it and whoever reads it: kept as it came, so that reading it
 * whole needs no stream, and a stream is made only for who asks for one.
 */
export class FetchBody {
  #chunks: Chunk[] = []
  #size = 0
  #consumer: Consumer = { kind: 'none' }
  #state: 'arriving' | 'ended' | 'failed' = 'arriving'
  #error: unknown
  readonly #supply: BodySupply
  readonly #signal: AbortSignal | undefined
  /** Somebody reads it whole, or has done so. */
  taken = false
  #owner: Response | undefined

  constructor(signal: AbortSignal | undefined, supply: BodySupply) {
    this.#signal = signal
    this.#supply = supply
  }

  /** Who can read it. Held until the body stalls: before that nothing is lost, and a registration has its price. */
  belongTo(response: Response): void {
    if (this.#state === 'arriving') this.#owner = response
  }

  /** False: no more for now. */
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
    this.#chunks = []
    this.#owner = undefined
    this.#settle()
  }

  /** Its response is gone: gives up, unless somebody holds the stream. */
  abandon(): void {
    if (this.#consumer.kind === 'none' && this.#state === 'arriving') this.#supply.abort()
  }

  /** Only once, and not after {@link FetchBody.stream}, which gives an empty one from then on. */
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
    const chunks = this.#chunks
    this.#chunks = []
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

  /** Gives the stream one chunk for each pull. */
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

/** A byte stream takes the memory of what it is given away, so a chunk needs memory of its own. */
function ownBytes(chunk: Chunk): Uint8Array<ArrayBuffer> {
  return new Uint8Array(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
}

/** A reader that brought its own buffer has to be answered before the stream may close. */
function closeStream(controller: ReadableByteStreamController): void {
  controller.close()
  controller.byobRequest?.respond(0)
}

const byteOrderMark = '\ufeff'

/** UTF-8 decode of the fetch standard: without its byte order mark, and with U+FFFD for what is none. */
export function toText(chunks: readonly Chunk[]): string {
  const text = decode(chunks)
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}

export function toJson(chunks: readonly Chunk[]): unknown {
  return JSON.parse(toText(chunks))
}

export function toBytes(chunks: readonly Chunk[]): Uint8Array<ArrayBuffer> {
  if (chunks.length === 1) return ownBytes(chunks[0]!)
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
  const whole = new Uint8Array(bytes.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const part of bytes) {
    whole.set(part, at)
    at += part.byteLength
  }
  return whole
}

export function toArrayBuffer(chunks: readonly Chunk[]): ArrayBuffer {
  return toBytes(chunks).buffer
}

function decode(chunks: readonly Chunk[]): string {
  if (chunks.length === 0) return ''
  const only = chunks.length === 1 ? chunks[0]! : undefined
  // Text that was never bytes is already decoded, but for lone surrogates, which no encoder would have sent.
  if (typeof only === 'string') return only.toWellFormed()
  if (only !== undefined) return Buffer.from(only.buffer, only.byteOffset, only.byteLength).toString()
  if (chunks.every((chunk) => typeof chunk === 'string')) return chunks.map((chunk) => chunk.toWellFormed()).join('')
  return Buffer.from(toBytes(chunks).buffer).toString()
}
