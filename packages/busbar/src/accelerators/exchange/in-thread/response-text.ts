import type { ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { createResponseParser, type HttpParser } from '../../../node/parser.ts'

/** What a client's parser finds, in this order. */
export interface TextReader {
  information(status: number, rawHeaders: string[]): void
  head(status: number, statusText: string, rawHeaders: string[]): void
  data(chunk: Uint8Array): void
  end(rawTrailers: string[]): void
  /** Not HTTP, or, without an error, cut off. */
  broken(error: Error | undefined): void
}

/**
 * Reads a response that was written as text, with the parser that Node's own client uses. Lets the caller see exactly
 * what a client would have seen of a program that writes to the socket by itself, whatever it writes.
 */
export class ResponseText {
  readonly #parser: HttpParser
  readonly #reader: TextReader
  #collected: string[] = []
  #finalHead = false
  #done = false
  #freed = false

  constructor({ method, maxAnswerHead = 0 }: ExchangeRequest, reader: TextReader) {
    const bodiless = method === 'HEAD'
    this.#reader = reader
    this.#parser = createResponseParser(maxAnswerHead, {
      headers: (rawHeaders) => void this.#collected.push(...rawHeaders),
      head: (status, statusText, rawHeaders = this.#collected) => {
        this.#collected = []
        return this.#onHead(status, statusText, rawHeaders) || bodiless
      },
      body: (chunk) => reader.data(chunk),
      complete: () => this.#onComplete(),
    })
  }

  /** False while there was nothing but information (1xx). */
  get hasFinalHead(): boolean {
    return this.#finalHead
  }

  /** `bytes` must be ours: body chunks are views of it. */
  read(bytes: Uint8Array): void {
    if (this.#done || bytes.length === 0) return
    const result = this.#parser.execute(bytes)
    if (result instanceof Error && !this.#done) this.#break(result)
  }

  /** The connection ended: a body without a length is complete, anything else is cut off. */
  close(): void {
    if (!this.#done) {
      this.#parser.finish()
      if (!this.#done) this.#break(undefined)
    }
    this.free()
  }

  /** Not inside the parser's own callbacks. */
  free(): void {
    this.#done = true
    if (!this.#freed) setImmediate(() => this.#parser.close())
    this.#freed = true
  }

  /** True: no body follows. */
  #onHead(status: number, statusText: string, rawHeaders: string[]): boolean {
    this.#finalHead = status >= 200 || status === 101
    if (this.#finalHead) this.#reader.head(status, statusText, rawHeaders)
    else this.#reader.information(status, rawHeaders)
    return !this.#finalHead
  }

  #onComplete(): void {
    const rawTrailers = this.#collected
    this.#collected = []
    if (!this.#finalHead) return
    this.#done = true
    this.#reader.end(rawTrailers)
  }

  #break(error: Error | undefined): void {
    this.#done = true
    const reason = (error as { reason?: unknown } | undefined)?.reason
    if (error !== undefined && typeof reason === 'string') error.message = `Parse Error: ${reason}`
    this.#reader.broken(error)
  }
}
