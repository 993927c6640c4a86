import type { Readable } from 'node:stream'
import { isUntouched, markRead } from '../../../node/streams.ts'
import { symbolNamed } from '../../../node/response.ts'
import {
  toArrayBuffer,
  toBytes,
  toJson,
  toText,
  type BodySupply,
  type Chunk,
  type Conversion,
} from '../clients/body-values.ts'

/** The constructor's argument of a response body, in all versions of undici. */
export interface BodyParts {
  resume(): void
  abort(reason?: Error): void
  contentType: string
  contentLength: number | null
}

export interface Body extends Readable {
  text(): Promise<string>
  json(): Promise<unknown>
  arrayBuffer(): Promise<ArrayBuffer>
  bytes(): Promise<Uint8Array>
  blob(): Promise<Blob>
  dump(options?: { limit?: number; signal?: AbortSignal }): Promise<null | undefined>
  readonly body: ReadableStream
}

export type BodyClass = new (parts: BodyParts) => Body

export interface LazyBody extends Body {
  /** Returns false if the exchange must wait. */
  addChunk(chunk: Chunk): boolean
  finish(): void
}

export type LazyBodyClass = new (supply: BodySupply, contentType: string, contentLength: number | null) => LazyBody

const highWaterMark = 65_536
/** Default limit of `dump`, in bytes. */
const dumpLimit = 131_072

/**
 * Extends a copy's own body class, so that the stream behaves as in that copy. Arriving data is
 * kept until the stream is first read. If the whole body is requested and has arrived, the stream
 * is never run: that costs several times as much as the rest of a call.
 */
export function createLazyBodyClass(Base: BodyClass, major: number): LazyBodyClass {
  let consumption: symbol | undefined

  class Lazy extends Base implements LazyBody {
    readonly #supply: BodySupply
    readonly #length: number | null
    #kept: Chunk[] | undefined = []
    #size = 0
    #ended = false
    #taken = false

    constructor(supply: BodySupply, contentType: string, contentLength: number | null) {
      super({ resume: flow, abort: abortCall, contentType, contentLength })
      this.#supply = supply
      this.#length = contentLength
    }

    addChunk(chunk: Chunk): boolean {
      if (this.#kept === undefined) return this.destroyed || this.push(asBuffer(chunk))
      this.#kept.push(chunk)
      this.#size += chunk.length
      return this.#size < highWaterMark
    }

    finish(): void {
      this.#ended = true
      if (this.#kept === undefined && !this.destroyed) this.push(null)
    }

    /** The stream wants to be read. */
    flow(): void {
      const kept = this.#kept
      if (kept === undefined) return this.#supply.resume()
      this.#kept = undefined
      let more = true
      for (const chunk of kept) more = this.push(asBuffer(chunk))
      if (this.#ended) this.push(null)
      else if (more) this.#supply.resume()
    }

    abortCall(): void {
      this.#supply.abort()
    }

    override text(): Promise<string> {
      if (this.#isWhole()) return this.#readWhole(toText)
      this.#startFlowing()
      return super.text()
    }

    override json(): Promise<unknown> {
      if (this.#isWhole()) return this.#readWhole(toJson)
      this.#startFlowing()
      return super.json()
    }

    override arrayBuffer(): Promise<ArrayBuffer> {
      if (this.#isWhole()) return this.#readWhole(toArrayBuffer)
      this.#startFlowing()
      return super.arrayBuffer()
    }

    override bytes(): Promise<Uint8Array> {
      if (this.#isWhole()) return this.#readWhole(toBytes)
      this.#startFlowing()
      return super.bytes()
    }

    override blob(): Promise<Blob> {
      this.#startFlowing()
      return super.blob()
    }

    override dump(options?: { limit?: number; signal?: AbortSignal }): Promise<null | undefined> {
      if (this.#taken) return Promise.resolve(null)
      const small = this.#size <= dumpLimit && (this.#length ?? 0) <= dumpLimit
      if (options !== undefined || !small || !this.#isWhole()) return super.dump(options)
      return this.#readWhole(() => (major < 7 ? null : undefined))
    }

    override get body(): ReadableStream {
      // From now on a web stream reads, and holds the lock.
      this.#startFlowing()
      return super.body
    }

    override setEncoding(encoding: BufferEncoding): this {
      this.#startFlowing()
      return super.setEncoding(encoding)
    }

    /** True if all has arrived and the stream is unused. */
    #isWhole(): boolean {
      return this.#ended && this.#kept !== undefined && !this.destroyed && isUntouched(this)
    }

    /** Converts the data, and marks the stream as read to its end. It has no listeners. */
    #readWhole<T>(convert: Conversion<T>): Promise<T> {
      const kept = this.#kept!
      this.#kept = undefined
      this.#taken = true
      markRead(this)
      // Marks the body as consumed: the copy then rejects a second use in its own way.
      consumption ??= symbolNamed(this, 'kConsume')
      if (consumption !== undefined) Reflect.set(this, consumption, consumed)
      try {
        return Promise.resolve(convert(kept))
      } catch (error) {
        return Promise.reject(error)
      }
    }

    #startFlowing(): void {
      if (this.#kept !== undefined && !this.destroyed) this.flow()
    }
  }
  // Looks like the copy's own class.
  Object.defineProperty(Lazy.prototype, 'constructor', { value: Base })
  return Lazy
}

function flow(this: unknown): void {
  ;(this as { flow(): void }).flow()
}

function abortCall(this: unknown): void {
  ;(this as { abortCall(): void }).abortCall()
}

const consumed = { type: null, stream: null, resolve: null, reject: null, length: 0, body: null }

function asBuffer(chunk: Chunk): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
