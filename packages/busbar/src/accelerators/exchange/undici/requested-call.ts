import { startCall, type StartableCallRoute } from '../clients/client-call.ts'
import { ResponseTimeout, type TimedCall } from '../clients/response-timeout.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from '../../../mesh/http/exchange.ts'
import type { BodySupply } from '../clients/body-values.ts'
import type { DispatchRequest } from './dispatch-request.ts'
import { isAscii } from '../header-values.ts'
import { abortedError, toClientError } from '../clients/undici-errors.ts'
import { rawHeaders, statusTextOf, type HeaderRecord, type RawHeader } from './handler-dialects.ts'
import type { LazyBody, LazyBodyClass } from './lazy-body.ts'

/** The differences between the versions of undici. */
export interface UndiciTraits {
  readonly Body: LazyBodyClass
  /** The result has a `statusText`. */
  readonly hasStatusText: boolean
  readonly context: null | undefined
  /** A body without an error listener may fail without ending the process. */
  readonly ignoresUnhandledFailure: boolean
  /** Decodes header values that are not ASCII, in the version's own way. */
  readonly decodeHeaders: (raw: RawHeader[]) => HeaderRecord
}

/** A call by `request` that an exchange can make. */
export interface PlannedCall {
  readonly route: StartableCallRoute
  readonly stated: DispatchRequest
  readonly signal: AbortSignal | undefined
  readonly opaque: unknown
}

/** One call by a copy's `request`. */
export class RequestedCall implements ExchangeHandler, BodySupply, TimedCall {
  readonly #traits: UndiciTraits
  readonly #call: PlannedCall
  readonly #resolve: (result: unknown) => void
  readonly #reject: (error: unknown) => void
  readonly #trailers: HeaderRecord = {}
  #exchange: Exchange | undefined
  readonly #timeout: ResponseTimeout
  #body: LazyBody | undefined
  #over = false
  #unlisten: (() => void) | undefined

  constructor(
    traits: UndiciTraits,
    call: PlannedCall,
    resolve: (result: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#traits = traits
    this.#call = call
    this.#timeout = new ResponseTimeout(this, call.stated)
    this.#resolve = resolve
    this.#reject = reject
  }

  start(): void {
    const { route, stated, signal } = this.#call
    if (signal !== undefined) this.#listen(signal)
    try {
      this.#exchange = startCall(route, stated.request, this)
      this.#timeout.awaitHead()
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  onHead(head: ResponseHead): void {
    if (this.#over) return
    const headers = this.#decode(head.headers)
    const body = (this.#body = this.#createBody(headers))
    this.#timeout.awaitBody()
    // While a signal may abort, the body has a listener, as in undici.
    if (this.#unlisten !== undefined) body.on('close', this.#unlisten)
    const { opaque } = this.#call
    const { context, hasStatusText } = this.#traits
    const trailers = this.#trailers
    const { status: statusCode } = head
    this.#resolve(
      hasStatusText
        ? { statusCode, statusText: statusTextOf(head), headers, trailers, opaque, body, context }
        : { statusCode, headers, trailers, opaque, body, context },
    )
  }

  onData(chunk: Uint8Array | string): boolean {
    if (this.#over || this.#body === undefined) return true
    const more = this.#body.addChunk(chunk)
    this.#timeout.onData(more)
    return more
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    if (this.#over) return
    this.#over = true
    this.#timeout.stop()
    Object.assign(this.#trailers, this.#decode(trailers))
    this.#body?.finish()
  }

  onError(error: Error): void {
    if (!this.#over) this.#fail(toClientError(error))
  }

  resume(): void {
    if (this.#over) return
    this.#timeout.resume()
    this.#exchange?.resume()
  }

  /** The reader has destroyed the body. */
  abort(): void {
    if (this.#over) return
    this.#over = true
    this.#timeout.stop()
    this.#exchange?.abort(abortedError())
  }

  onTimeout(error: Error): void {
    this.#fail(error)
    this.#exchange?.abort()
  }

  #decode(headers: ResponseHead['headers']): HeaderRecord {
    const record: HeaderRecord = {}
    for (const name in headers) {
      const value = headers[name]!
      // The versions differ in reading repeated headers and values that are not ASCII.
      if (typeof value !== 'string' || !isAscii(value)) return this.#traits.decodeHeaders(rawHeaders(headers))
      record[name] = value
    }
    return record
  }

  #createBody(headers: HeaderRecord): LazyBody {
    const length = headers['content-length']
    const known = this.#call.stated.request.method !== 'HEAD' && length ? Number(length) : null
    return new this.#traits.Body(this, headers['content-type'] as string, known)
  }

  #listen(signal: AbortSignal): void {
    const onAbort = () => {
      if (this.#body === undefined) {
        this.#fail(signal.reason)
        this.#exchange?.abort()
      } else this.#body.on('error', () => {}).destroy(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    this.#unlisten = () => signal.removeEventListener('abort', onAbort)
  }

  #fail(error: Error): void {
    this.#over = true
    this.#timeout.stop()
    const body = this.#body
    if (body === undefined) {
      this.#unlisten?.()
      return this.#reject(error)
    }
    // Data that has arrived is delivered first.
    queueMicrotask(() => {
      if (this.#traits.ignoresUnhandledFailure) body.on('error', () => {})
      if (!body.destroyed) body.destroy(error)
    })
  }
}
