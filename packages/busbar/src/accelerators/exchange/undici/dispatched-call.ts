import { STATUS_CODES } from 'node:http'
import { ChunkQueue } from '../chunk-queue.ts'
import { startCall, type StartableCallRoute } from '../clients/client-call.ts'
import { ResponseTimeout, type ResponseLimits, type TimedCall } from '../clients/response-timeout.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest, ResponseHead } from '../../../mesh/http/exchange.ts'
import { sendStream, type StreamOwner, type StreamSource } from './stream-sender.ts'
import { abortedError, toClientError } from '../clients/undici-errors.ts'
import {
  adaptHandler,
  type HandlerContext,
  type CallControl,
  type HandlerAdapter,
  type UndiciHandler,
} from './handler-dialects.ts'
import type { DispatchRequest } from './dispatch-request.ts'

type State = 'head' | 'body' | 'done'

/** One call by undici's `dispatch`. Translates the exchange's events for undici's handler. */
export class DispatchedCall implements ExchangeHandler, CallControl, TimedCall, StreamOwner {
  readonly #adapter: HandlerAdapter
  readonly #handler: UndiciHandler
  #state: State = 'head'
  #exchange: Exchange | undefined
  #source: StreamSource | undefined
  readonly #timeout: ResponseTimeout
  #paused = false
  #delivering = false
  /** Chunks that arrived while the handler had paused. */
  readonly #held = new ChunkQueue()
  #end: Readonly<Record<string, string | string[]>> | undefined

  constructor(handler: UndiciHandler, context: HandlerContext, limits?: ResponseLimits) {
    this.#handler = handler
    this.#timeout = new ResponseTimeout(this, limits)
    this.#adapter = adaptHandler(handler, this, context)
  }

  get done(): boolean {
    return this.#state === 'done'
  }

  start(route: StartableCallRoute, stated: DispatchRequest): void {
    this.#connected()
    if (this.done) return
    this.#timeout.awaitHead()
    if (stated.stream === undefined) this.#sendWhole(route, stated.request)
    else this.#source = sendStream(this, stated, stated.stream, (request) => this.open(route, request))
  }

  /** Takes over an exchange in progress. */
  takeOver(exchange: Exchange): void {
    this.#exchange = exchange
    this.#connected()
  }

  /** Undefined on failure: then the handler has got the error. */
  open(route: StartableCallRoute, request: ExchangeRequest): Exchange | undefined {
    try {
      this.#exchange = startCall(route, request, this)
    } catch (error) {
      this.abort(error as Error)
    }
    return this.#exchange
  }

  bodySent(chunk: Uint8Array | string): void {
    if (this.#handler.onBodySent) this.#guard(() => this.#handler.onBodySent?.(chunk))
  }

  requestSent(): void {
    if (this.#handler.onRequestSent) this.#guard(() => this.#handler.onRequestSent?.())
  }

  onInformation(status: number, headers: ResponseHead['headers']): void {
    if (this.done) return
    this.#timeout.refresh()
    this.#guard(() => this.#adapter.head({ status, statusText: STATUS_CODES[status] ?? '', headers }))
  }

  onHead(head: ResponseHead): void {
    if (this.done) return
    this.#state = 'body'
    this.#timeout.awaitBody()
    this.#guard(() => {
      this.#handler.onResponseStarted?.()
      this.#paused = !this.#adapter.head(head)
    })
  }

  onData(chunk: Uint8Array | string): boolean {
    if (this.done) return false
    this.#held.push(chunk)
    return this.#deliver()
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    if (this.done) return
    this.#end = trailers
    this.#deliver()
  }

  onError(error: Error): void {
    // undici's `fetch` handles a response some microtasks after its head, and would miss an error
    // before that. Over a connection, none comes in the same turn.
    if (this.#state === 'body') setImmediate(() => this.#failOnce(error))
    else this.#failOnce(error)
  }

  onDrain(): void {
    this.#source?.drained()
  }

  resume(): void {
    if (!this.#paused || this.done) return
    this.#paused = false
    if (this.#deliver() && !this.done) this.#exchange?.resume()
  }

  abort(reason?: Error): void {
    if (this.done) return
    const exchange = this.#exchange
    this.#fail(reason ?? abortedError())
    exchange?.abort()
  }

  onTimeout(error: Error): void {
    this.abort(error)
  }

  #connected(): void {
    // As in undici, an exception of the handler is the error of its request.
    this.#guard(() => this.#adapter.connected())
  }

  #sendWhole(route: StartableCallRoute, request: ExchangeRequest): void {
    if (this.open(route, request) === undefined) return
    if (request.body !== null) this.bodySent(request.body)
    this.requestSent()
  }

  /** Delivers held chunks unless the handler has paused. Returns false if it has. */
  #deliver(): boolean {
    if (this.#delivering) return !this.#paused
    this.#delivering = true
    while (!this.#paused && !this.done && !this.#held.isEmpty) this.#deliverOne(this.#held.shift()!)
    this.#delivering = false
    if (this.done) return false
    if (this.#paused) this.#timeout.stop()
    else if (this.#end !== undefined) this.#complete(this.#end)
    else this.#timeout.awaitBody()
    return !this.#paused
  }

  #deliverOne(chunk: Uint8Array | string): void {
    this.#guard(() => {
      if (!this.#adapter.data(asBuffer(chunk))) this.#paused = true
    })
  }

  #complete(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#settle()
    try {
      this.#adapter.end(trailers)
    } catch (error) {
      this.#adapter.error(error as Error)
    }
    // The callee has responded before the end of the request.
    if (this.#source?.stop() === true) this.#exchange?.abort()
  }

  #failOnce(error: Error): void {
    if (!this.done) this.#fail(toClientError(error))
  }

  #fail(error: Error): void {
    this.#settle()
    this.#source?.stop(error)
    this.#adapter.error(error)
  }

  #settle(): void {
    this.#state = 'done'
    this.#held.takeAll()
    this.#timeout.stop()
  }

  /** An exception of the handler ends its own call only. */
  #guard(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.abort(error as Error)
    }
  }
}

function asBuffer(chunk: Uint8Array | string): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
