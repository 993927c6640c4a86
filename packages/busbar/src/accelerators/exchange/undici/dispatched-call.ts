import { STATUS_CODES } from 'node:http'
import { startCall, type StartableRoute } from '../clients/call.ts'
import { clearDeadline, refreshDeadline, startDeadline, type Deadline, type Running } from '../clients/deadlines.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest, ResponseHead } from '../../../mesh/http/exchange.ts'
import { sendStream, type StreamSource } from './stream-sender.ts'
import { abortedError, bodyTimeoutError, toClientError, headersTimeoutError } from './errors.ts'
import { tell, type Context, type Steering, type Telling, type UndiciHandler } from './handler.ts'
import type { StatedRequest } from './request-parts.ts'

/** undici's own defaults. */
export const defaultTimeout = 300_000

type State = 'head' | 'body' | 'done'

/** One call by undici's `dispatch`: what the exchange tells, said in the words its handler expects. */
export class DispatchedCall implements ExchangeHandler, Steering, Deadline {
  readonly #telling: Telling
  readonly #handler: UndiciHandler
  #state: State = 'head'
  #exchange: Exchange | undefined
  #source: StreamSource | undefined
  #deadline: Running | undefined
  #bodyTimeout = defaultTimeout
  #paused = false
  #delivering = false
  /** What arrived while the handler had paused. */
  #held: (Uint8Array | string)[] = []
  #end: Readonly<Record<string, string | string[]>> | undefined

  constructor(handler: UndiciHandler, context: Context) {
    this.#handler = handler
    this.#telling = tell(handler, this, context)
  }

  get done(): boolean {
    return this.#state === 'done'
  }

  start(route: StartableRoute, stated: StatedRequest): void {
    this.#connected()
    if (this.done) return
    this.#bodyTimeout = stated.bodyTimeout ?? defaultTimeout
    this.#deadline = startDeadline(stated.headersTimeout ?? defaultTimeout, this)
    if (stated.stream === undefined) this.#sendWhole(route, stated.request)
    else this.#source = sendStream(this, stated, stated.stream, (request) => this.open(route, request))
  }

  /** Takes over an exchange that is under way. */
  adopt(exchange: Exchange): void {
    this.#exchange = exchange
    this.#connected()
  }

  /** Undefined where that could not be: the handler has been told why. */
  open(route: StartableRoute, request: ExchangeRequest): Exchange | undefined {
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
    if (this.#deadline !== undefined) refreshDeadline(this.#deadline)
    this.#guard(() => this.#telling.head({ status, statusText: STATUS_CODES[status] ?? '', headers }))
  }

  onHead(head: ResponseHead): void {
    if (this.done) return
    this.#state = 'body'
    this.#limitBody()
    this.#guard(() => {
      this.#handler.onResponseStarted?.()
      this.#paused = !this.#telling.head(head)
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
    // undici's `fetch` takes up an answer some microtasks after its head. A failure before that it never hears of: over a
    // connection none comes in the same turn.
    if (this.#state === 'body') setImmediate(() => this.#cutOff(error))
    else this.#cutOff(error)
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

  expire(): void {
    this.abort(this.#state === 'head' ? headersTimeoutError() : bodyTimeoutError())
  }

  #connected(): void {
    // What a handler throws here is its request's error, as it is in undici.
    this.#guard(() => this.#telling.connected())
  }

  #sendWhole(route: StartableRoute, request: ExchangeRequest): void {
    if (this.open(route, request) === undefined) return
    if (request.body !== null) this.bodySent(request.body)
    this.requestSent()
  }

  /** Hands on what is held, unless the handler has paused. False: it has. */
  #deliver(): boolean {
    if (this.#delivering) return !this.#paused
    this.#delivering = true
    while (!this.#paused && !this.done && this.#held.length > 0) this.#deliverOne(this.#held.shift()!)
    this.#delivering = false
    if (this.done) return false
    if (this.#paused) this.#unlimit()
    else if (this.#end !== undefined) this.#complete(this.#end)
    else this.#limitBody()
    return !this.#paused
  }

  #deliverOne(chunk: Uint8Array | string): void {
    this.#guard(() => {
      if (!this.#telling.data(asBuffer(chunk))) this.#paused = true
    })
  }

  #limitBody(): void {
    if (this.#deadline !== undefined && this.#state === 'body' && this.#deadline.queue.limit === this.#bodyTimeout)
      return refreshDeadline(this.#deadline)
    this.#unlimit()
    this.#deadline = startDeadline(this.#bodyTimeout, this)
  }

  #unlimit(): void {
    clearDeadline(this.#deadline)
    this.#deadline = undefined
  }

  #complete(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#settle()
    try {
      this.#telling.end(trailers)
    } catch (error) {
      this.#telling.error(error as Error)
    }
    // The callee has answered without waiting for the rest of the request.
    if (this.#source?.stop() === true) this.#exchange?.abort()
  }

  #cutOff(error: Error): void {
    if (!this.done) this.#fail(toClientError(error))
  }

  #fail(error: Error): void {
    this.#settle()
    this.#source?.stop(error)
    this.#telling.error(error)
  }

  #settle(): void {
    this.#state = 'done'
    this.#held = []
    this.#unlimit()
  }

  /** What a handler throws ends its own call and nobody else's. */
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
