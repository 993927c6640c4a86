import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { bodyFramingOf } from '../../../mesh/http/body-framing.ts'
import type { ResponseHead } from '../../../mesh/http/exchange.ts'
import type { Responding, ResponseReceiver } from '../../../mesh/http/value-connection.ts'
import { ChunkQueue } from '../chunk-queue.ts'
import { toClientError } from '../clients/undici-errors.ts'

/**
 * undici's parser of one connection. llhttp calls these methods while it reads a response. They
 * return a negative number if the connection has ended, and a number above 2 to pause.
 */
export interface Parser {
  paused: boolean
  readonly timeout: { refresh?(): void } | null
  /** Of the response under way. */
  readonly shouldKeepAlive: boolean
  /** Bound: handlers get it. */
  resume: () => void
  /** Called when a connection ends amid a response that does not keep it open. */
  finish: () => Error | null
  createError(code: number, rest: Buffer): Error
  onMessageBegin(): Returned
  onStatus(text: Buffer): Returned
  onHeaderField(name: Buffer): Returned
  onHeaderValue(value: Buffer): Returned
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): Returned
  onBody(chunk: Buffer): Returned
  onMessageComplete(): Returned
}

type Returned = number | void
type Fields = Readonly<Record<string, string | string[]>>

const maxWithoutPause = 2
/** llhttp's code for a message that is not complete at the end of the connection. */
const invalidEof = 14
const nothing = Buffer.alloc(0)
const closing = /(?:^|\W)close(?:$|\W)/i

/**
 * Calls undici's parser of one connection as llhttp does, with the values of a response. So what
 * undici makes of a response remains its own. Only one response at a time is under way.
 */
export class ParserResponse implements ResponseReceiver {
  readonly #parser: Parser
  readonly #socket: Socket
  /** The request that was sent. */
  responding: Responding | undefined
  /** The head was delivered, and the parser waits for the body. */
  #isInBody = false
  /** Bytes to come. NaN if no length is stated. */
  #left = NaN
  /** The end of the connection is the end of the body. */
  #endsWithConnection = false
  /** Chunks that arrived while the handler had paused. */
  readonly #held = new ChunkQueue()
  #end: Fields | undefined

  constructor(parser: Parser, socket: Socket) {
    this.#parser = parser
    this.#socket = socket
    const resume = parser.resume
    parser.resume = () => (this.#isInBody ? this.#resume() : resume())
    const { finish } = parser
    parser.finish = () => (this.#isInBody ? this.#finish() : finish.call(parser))
  }

  onInformation(status: number, headers: Fields): void {
    this.#run(() => {
      this.#readHead(status, STATUS_CODES[status] ?? '', fieldsOf(headers), true)
      if (!this.#socket.destroyed) this.#parser.onMessageComplete()
    })
  }

  onHead(head: ResponseHead): void {
    const { status, statusText, headers, rawHeaders } = head
    const framing = bodyFramingOf(head)
    this.#endsWithConnection = framing?.kind === 'close'
    this.#left = framing?.kind === 'length' ? framing.length : NaN
    this.#end = undefined
    this.#isInBody = true
    const keepsAlive = !this.#endsWithConnection && !closing.test(String(headers.connection))
    this.#run(() => {
      const returned = this.#readHead(status, statusText, rawHeaders ?? fieldsOf(headers), keepsAlive)
      // The response to HEAD.
      if (returned === 1) this.#left = 0
      this.#proceed(returned)
    })
  }

  onData(chunk: Uint8Array | string): boolean {
    if (!this.#isInBody) return true
    this.#held.push(chunk)
    if (!this.#parser.paused) this.#run(() => this.#proceed())
    return !this.#isInBody || !this.#parser.paused
  }

  onEnd(trailers: Fields): void {
    if (!this.#isInBody) return
    this.#end = trailers
    if (!this.#parser.paused) this.#run(() => this.#proceed())
  }

  #readHead(status: number, statusText: string, fields: readonly string[], keepsAlive: boolean): Returned {
    const parser = this.#parser
    parser.onMessageBegin()
    if (statusText !== '') parser.onStatus(Buffer.from(statusText, 'latin1'))
    this.#readFields(fields)
    return parser.onHeadersComplete(status, false, keepsAlive)
  }

  #readFields(fields: readonly string[]): void {
    // Beyond its limit of a head, the parser destroys the socket for each further field.
    for (let at = 0; at < fields.length && !this.#socket.destroyed; at += 2) {
      this.#parser.onHeaderField(Buffer.from(fields[at]!, 'latin1'))
      this.#parser.onHeaderValue(Buffer.from(fields[at + 1]!, 'latin1'))
    }
  }

  /** Delivers what has arrived, until the handler pauses. */
  #proceed(returned: Returned = 0): void {
    const parser = this.#parser
    for (let last = returned ?? 0; ; last = this.#deliverOne() ?? 0) {
      if (last < 0 && !this.#socket.destroyed) this.#socket.destroy()
      if (this.#socket.destroyed) return this.#leave()
      if (last > maxWithoutPause) parser.paused = true
      if (parser.paused) return
      if (this.#held.isEmpty || this.#left === 0) break
    }
    if (this.#end !== undefined) this.#finishBody(this.#end)
    // The end mostly comes in this tick. The parser does not wait for it.
    else if (this.#left === 0) queueMicrotask(() => this.#completeEarly())
  }

  #deliverOne(): Returned {
    const chunk = bufferOf(this.#held.shift()!)
    this.#left -= chunk.length
    return this.#parser.onBody(chunk)
  }

  #finishBody(trailers: Fields): void {
    if (this.#left === 0 || Number.isNaN(this.#left)) return this.#complete(trailers)
    // Shorter than stated, which ends a connection.
    this.#socket.destroy(this.#parser.shouldKeepAlive ? toClientError(closed()) : this.#incomplete())
  }

  #completeEarly(): void {
    if (this.#isInBody && !this.#parser.paused && !this.#socket.destroyed) this.#run(() => this.#complete({}))
  }

  #complete(trailers: Fields): void {
    this.#leave()
    this.#readFields(fieldsOf(trailers))
    if (!this.#socket.destroyed) this.#parser.onMessageComplete()
  }

  #leave(): void {
    this.#isInBody = false
    this.#held.takeAll()
  }

  /** Called by the handler. */
  #resume(): void {
    const parser = this.#parser
    if (this.#socket.destroyed || !parser.paused) return
    parser.timeout?.refresh?.()
    parser.paused = false
    this.#run(() => this.#proceed())
    if (this.#isInBody && !parser.paused) this.responding?.resume()
  }

  /** What llhttp makes of the end of the connection. */
  #finish(): Error | null {
    this.#parser.paused = false
    if (!this.#endsWithConnection) return this.#incomplete()
    this.#run(() => this.#complete({}))
    return null
  }

  #incomplete(): Error {
    const error = this.#parser.createError(invalidEof, nothing)
    // llhttp keeps the reason, and has read nothing.
    if (error.message === '') error.message = 'Response does not match the HTTP/1.1 protocol (Invalid EOF state)'
    return error
  }

  /** What a handler throws ends its connection, as when a text is parsed. */
  #run(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#socket.destroy(error as Error)
    }
  }
}

function closed(): Error {
  return new Error('other side closed')
}

function fieldsOf(record: Fields): string[] {
  const fields: string[] = []
  for (const name in record) for (const value of [record[name]!].flat()) fields.push(name, value)
  return fields
}

function bufferOf(chunk: Uint8Array | string): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
