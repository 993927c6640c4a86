import type { Exchange } from './exchange.ts'
import type { Chunk } from './wire.ts'

/** Of a body that is kept: bytes, or characters. */
const maxKept = 64 * 1024

/**
 * What a caller has streamed so far, if that is little, for the case that another instance has to
 * get it.
 */
export class SentBody {
  /** Undefined if it was too much. */
  #chunks: Chunk[] | undefined = []
  #size = 0
  #end: { readonly trailers: string[] | undefined } | undefined

  /** It can be sent again. */
  get isKept(): boolean {
    return this.#chunks !== undefined
  }

  write(chunk: Chunk): void {
    this.#size += chunk.length
    if (this.#size > maxKept) this.#chunks = undefined
    // The caller may use its buffer again.
    else this.#chunks?.push(typeof chunk === 'string' ? chunk : new Uint8Array(chunk))
  }

  end(trailers: string[] | undefined): void {
    this.#end = { trailers }
  }

  /** Returns false if the caller should wait for `onDrain`. */
  sendTo(exchange: Exchange): boolean {
    let mayContinue = true
    for (const chunk of this.#chunks ?? []) mayContinue = exchange.write(chunk)
    if (this.#end !== undefined) exchange.end(this.#end.trailers)
    return mayContinue
  }
}
