import type { Trace } from '../../../contract/context.ts'
import {
  closedByProgram,
  type ExchangeHandler,
  type ExchangeRequest,
  noFinalStatus,
  resetByProgram,
} from '../../../mesh/http/exchange.ts'
import { foldHeaders, foldTrailers } from '../../../mesh/http/header-fields.ts'
import type { Chunk } from '../clients/body-values.ts'
import { QueuedResponse } from '../queued-response.ts'
import type { RequestPlan } from '../request-plan.ts'
import type { CapturedHead } from './response-head.ts'
import { ResponseText, type ResponseTextHandler } from './response-text.ts'
import type { RequestUpload } from './upload.ts'

/** Bytes that one call may pass in one turn of the event loop, before all others get theirs. */
const maxPerTurn = 256 * 1024

/** What a piece counts at least: a hundred thousand pieces of one byte take a second, too. */
const leastPiece = 128

/**
 * Receives what the program sends as the response to one call, in either of the two forms of
 * {@link VirtualSocket}, and queues it for the caller.
 */
export abstract class ResponseReceiver extends QueuedResponse {
  readonly request: ExchangeRequest
  readonly plan: RequestPlan
  /** A whole request body that is small. Larger and streamed ones are an `upload`. */
  abstract readonly body: Uint8Array | null
  abstract readonly upload: RequestUpload | undefined
  /** To be added to the head of the request. */
  abstract readonly trace: Trace | undefined
  readonly #service: string
  #head: CapturedHead | undefined
  #isHeadQueued = false
  /** Bytes of the body to come, if its length was stated. */
  #left = Infinity
  #trailers = ''
  #text: ResponseText | undefined
  #isUnusable = false
  #passedThisTurn = 0

  constructor(service: string, request: ExchangeRequest, plan: RequestPlan, handler: ExchangeHandler) {
    super(handler)
    this.#service = service
    this.request = request
    this.plan = plan
  }

  protected abstract closeConnection(): void

  get isHeadCaptured(): boolean {
    return this.#head !== undefined
  }

  headCaptured(head: CapturedHead): void {
    this.#head = head
    if (head.framing === 'none') this.#left = 0
    else if (head.length >= 0) this.#left = head.length
  }

  /** Takes a complete response. Returns the number of its bytes, or -1 if it is not complete. */
  receiveWhole(data: Chunk, encoding: unknown): number {
    const head = this.#head
    if (head === undefined || head.framing === 'chunked' || head.framing === 'close') return -1
    const isText = typeof data === 'string'
    if (isText && encoding !== undefined && encoding !== null && encoding !== 'utf8' && data !== '') return -1
    if (head.framing === 'stated' && Buffer.byteLength(data) !== head.length) return -1
    this.#isHeadQueued = true
    this.queueHead(head)
    this.queueChunk(isText ? wellFormed(data) : Buffer.from(data))
    this.queueEnd()
    return head.framing === 'none' ? 0 : head.length
  }

  /** Takes a piece of the body. Returns false if the program should wait. */
  receiveBody(data: Chunk, encoding: BufferEncoding): boolean {
    this.#queueHeadOnce()
    if (data.length === 0 || !this.isOpen) return true
    let chunk = copyOf(data, encoding)
    if (this.#left !== Infinity) chunk = this.#withinLength(chunk)
    this.queueChunk(chunk)
    if (this.#left === 0) this.queueEnd()
    return this.#countTurn(chunk.length) && this.hasRoom
  }

  /**
   * Takes HTTP text. `bytes` must not be changed later. Returns false if the program should wait.
   */
  receiveText(bytes: Uint8Array): boolean {
    this.#text ??= new ResponseText(this.request, this.#textHandler())
    this.#text.read(bytes)
    return this.#countTurn(bytes.length) && this.hasRoom
  }

  /** `lines`: text, as Node's response keeps them. */
  receiveTrailers(lines: string): void {
    this.#trailers = lines
  }

  /** The response has ended, and all of it was received. */
  finished(): void {
    if (this.#head === undefined) return this.#textFinished()
    this.#queueHeadOnce()
    if (!this.isOpen) return
    // Less than was stated: a client would wait until the server's keep-alive timeout, then fail.
    if (this.#left !== Infinity) this.connectionClosed()
    else this.queueEnd(this.#trailers === '' ? undefined : foldTrailers(this.#trailers))
  }

  /**
   * A client treats a last status below 200 as an informational response, and would wait for the
   * final one until the keep-alive timeout.
   */
  #textFinished(): void {
    if (this.#text?.hasFinalHead !== false || !this.isOpen) return
    this.#failConnection(noFinalStatus(this.#service, this.request))
  }

  /** The program has closed the connection. */
  connectionClosed(): void {
    this.#isUnusable = true
    if (!this.isOpen) return
    if (this.#text !== undefined && this.#head === undefined) this.#text.close()
    // This body ends with the connection.
    else if (this.#isHeadQueued && this.#head!.framing === 'close') this.queueEnd()
    else this.queueFailure(this.#closedByProgram(), this.upload?.complete === false)
  }

  /** The program has reset the connection: not even a body without a length is complete. */
  connectionReset(): void {
    this.#isUnusable = true
    this.queueFailure(resetByProgram(this.#service, this.request), this.upload?.complete === false)
  }

  /** The connection cannot carry another call. */
  markUnusable(): void {
    this.#isUnusable = true
  }

  /** Frees the parser, if the response was text. */
  free(): void {
    this.#text?.free()
  }

  get isReusable(): boolean {
    return this.isComplete && !this.#isUnusable && this.plan.keepAlive && this.#head?.keepAlive === true
  }

  /** False if the call has passed enough in this turn: the rest waits for the next. */
  protected get hasTurnBudget(): boolean {
    return this.#passedThisTurn < maxPerTurn
  }

  nextTurn(): void {
    this.#passedThisTurn = 0
    if (this.hasRoom) this.drained()
  }

  #countTurn(length: number): boolean {
    if (this.#passedThisTurn === 0) setImmediate(nextTurn, this)
    this.#passedThisTurn += Math.max(length, leastPiece)
    return this.hasTurnBudget
  }

  #queueHeadOnce(): void {
    if (this.#isHeadQueued) return
    this.#isHeadQueued = true
    this.queueHead(this.#head!)
    if (this.#left === 0) this.queueEnd()
  }

  /** A client reads as much as the head states, and closes the connection if there is more. */
  #withinLength(chunk: Chunk): Chunk {
    const length = Buffer.byteLength(chunk)
    if (length <= this.#left) {
      this.#left -= length
      return chunk
    }
    this.#isUnusable = true
    const bytes = (typeof chunk === 'string' ? Buffer.from(chunk) : chunk).subarray(0, this.#left)
    this.#left = 0
    return bytes
  }

  #textHandler(): ResponseTextHandler {
    return {
      information: (status, rawHeaders) => this.queueInformation(status, foldHeaders(rawHeaders)),
      head: (status, statusText, rawHeaders) => {
        this.#isUnusable = true
        if (status === 101) this.#failConnection(noFinalStatus(this.#service, this.request))
        else this.queueHead({ status, statusText, headers: foldHeaders(rawHeaders), rawHeaders })
      },
      data: (chunk) => this.queueChunk(chunk),
      end: (rawTrailers) => this.queueEnd(foldTrailers(rawTrailers)),
      broken: (error) => this.#failConnection(error ?? this.#closedByProgram()),
    }
  }

  /** A client closes the connection if it finds something other than HTTP. */
  #failConnection(error: Error): void {
    this.queueFailure(error, this.upload?.complete === false)
    process.nextTick(() => this.closeConnection())
  }

  #closedByProgram(): Error {
    return closedByProgram(this.#service, this.request)
  }
}

// Not a closure: a call creates none.
function nextTurn(receiver: ResponseReceiver): void {
  receiver.nextTurn()
}

/** What the program wrote, as the caller may keep it: text stays text, bytes are copied. */
function copyOf(data: Chunk, encoding: BufferEncoding): Chunk {
  if (typeof data !== 'string') return Buffer.from(data)
  return encoding === 'utf8' || encoding === 'utf-8' ? wellFormed(data) : Buffer.from(data, encoding)
}

/** Replaces lone surrogates, as UTF-8 would. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}
