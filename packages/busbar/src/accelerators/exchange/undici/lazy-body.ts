import type { Readable } from 'node:stream'
import { isUntouched, markRead } from '../../../node/streams.ts'
import { symbolNamed } from '../../../node/symbols.ts'
import { toArrayBuffer, toBytes, toJson, toText, type BodySupply, type Chunk, type Conversion } from '../fetch/body.ts'

/** What all versions of undici construct the body of an answer with. */
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
  arrive(chunk: Chunk): boolean
  finish(): void
}

export type LazyBodyClass = new (supply: BodySupply, contentType: string, contentLength: number | null) => LazyBody

const highWaterMark = 65_536
/** What `dump` reads at most, unless told otherwise. */
const dumpLimit = 131_072

/**
 * A copy's own body class, so that whatever a program does with the stream is that copy's doing. What arrives is kept
 * aside until the stream is first read from; when somebody asks for the whole and it is here, it never is: running a
 * stream costs several times what all the rest of a call does.
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
      super({ resume: flow, abort: giveUp, contentType, contentLength })
      this.#supply = supply
      this.#length = contentLength
    }

    arrive(chunk: Chunk): boolean {
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

    giveUp(): void {
      this.#supply.abort()
    }

    override text(): Promise<string> {
      if (this.#whole()) return this.#take(toText)
      this.#startFlowing()
      return super.text()
    }

    override json(): Promise<unknown> {
      if (this.#whole()) return this.#take(toJson)
      this.#startFlowing()
      return super.json()
    }

    override arrayBuffer(): Promise<ArrayBuffer> {
      if (this.#whole()) return this.#take(toArrayBuffer)
      this.#startFlowing()
      return super.arrayBuffer()
    }

    override bytes(): Promise<Uint8Array> {
      if (this.#whole()) return this.#take(toBytes)
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
      if (options !== undefined || !small || !this.#whole()) return super.dump(options)
      return this.#take(() => (major < 7 ? null : undefined))
    }

    override get body(): ReadableStream {
      // From here on a web stream reads, which holds the lock.
      this.#startFlowing()
      return super.body
    }

    override setEncoding(encoding: BufferEncoding): this {
      this.#startFlowing()
      return super.setEncoding(encoding)
    }

    /** All has arrived and nobody has looked at the stream yet. */
    #whole(): boolean {
      return this.#ended && this.#kept !== undefined && !this.destroyed && isUntouched(this)
    }

    /** Leaves the stream as one that was read to its end; nobody listens, so nobody has to be told. */
    #take<T>(convert: Conversion<T>): Promise<T> {
      const kept = this.#kept!
      this.#kept = undefined
      this.#taken = true
      markRead(this)
      // Where a copy notes on a body that it was consumed: it refuses a second time in a way that differs by version.
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
  // To whoever asks it is the copy's own.
  Object.defineProperty(Lazy.prototype, 'constructor', { value: Base })
  return Lazy
}

function flow(this: unknown): void {
  ;(this as { flow(): void }).flow()
}

function giveUp(this: unknown): void {
  ;(this as { giveUp(): void }).giveUp()
}

const consumed = { type: null, stream: null, resolve: null, reject: null, length: 0, body: null }

function asBuffer(chunk: Chunk): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
