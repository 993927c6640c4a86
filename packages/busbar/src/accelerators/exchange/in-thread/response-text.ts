import type { ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { createResponseParser, type HttpParser } from '../../../node/parser.ts'

/** Gets what a client's parser finds, in this order. */
export interface ResponseTextHandler {
  information(status: number, rawHeaders: string[]): void
  head(status: number, statusText: string, rawHeaders: string[]): void
  data(chunk: Uint8Array): void
  end(rawTrailers: string[]): void
  /** The text is not HTTP, or, without an error, is truncated. */
  broken(error: Error | undefined): void
}

/**
 * Reads a response that was written as text, with the parser of Node's own client. So the caller
 * gets exactly what a client would, whatever the program writes to its socket.
 */
export class ResponseText {
  readonly #parser: HttpParser
  readonly #handler: ResponseTextHandler
  #collected: string[] = []
  #finalHead = false
  #done = false
  #freed = false

  constructor({ method, maxResponseHead = 0 }: ExchangeRequest, handler: ResponseTextHandler) {
    const bodiless = method === 'HEAD'
    this.#handler = handler
    this.#parser = createResponseParser(maxResponseHead, {
      headers: (rawHeaders) => void this.#collected.push(...rawHeaders),
      head: (status, statusText, rawHeaders = this.#collected) => {
        this.#collected = []
        return this.#onHead(status, statusText, rawHeaders) || bodiless
      },
      body: (chunk) => handler.data(chunk),
      complete: () => this.#onComplete(),
    })
  }

  /** False while there were only informational responses (1xx). */
  get hasFinalHead(): boolean {
    return this.#finalHead
  }

  /** `bytes` must not be changed later: body chunks are views of it. */
  read(bytes: Uint8Array): void {
    if (this.#done || bytes.length === 0) return
    const result = this.#parser.execute(bytes)
    if (result instanceof Error && !this.#done) this.#break(result)
  }

  /** The connection has ended. A body without a length is complete; anything else is truncated. */
  close(): void {
    if (!this.#done) {
      this.#parser.finish()
      if (!this.#done) this.#break(undefined)
    }
    this.free()
  }

  /** Frees the parser later, since this may run inside one of its callbacks. */
  free(): void {
    this.#done = true
    if (!this.#freed) setImmediate(() => this.#parser.close())
    this.#freed = true
  }

  /** Returns true if no body follows. */
  #onHead(status: number, statusText: string, rawHeaders: string[]): boolean {
    this.#finalHead = status >= 200 || status === 101
    if (this.#finalHead) this.#handler.head(status, statusText, rawHeaders)
    else this.#handler.information(status, rawHeaders)
    return !this.#finalHead
  }

  #onComplete(): void {
    const rawTrailers = this.#collected
    this.#collected = []
    if (!this.#finalHead) return
    this.#done = true
    this.#handler.end(rawTrailers)
  }

  #break(error: Error | undefined): void {
    this.#done = true
    const reason = (error as { reason?: unknown } | undefined)?.reason
    if (error !== undefined && typeof reason === 'string') error.message = `Parse Error: ${reason}`
    this.#handler.broken(error)
  }
}
