import { startCall } from '../clients/call.ts'
import { clearDeadline, refreshDeadline, startDeadline, type Deadline, type Running } from '../clients/deadlines.ts'
import { defaultTimeout } from './dispatched-call.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from '../../../mesh/http/exchange.ts'
import type { BodySupply } from '../fetch/body.ts'
import type { PlannedCall } from './copy.ts'
import { abortedError, bodyTimeoutError, headersTimeoutError, toClientError } from './errors.ts'
import { isAscii, rawHeaders, statusTextOf, type HeaderRecord, type RawHeader } from './handler.ts'
import type { LazyBody, LazyBodyClass } from './lazy-body.ts'

/** In what the versions of undici differ. */
export interface CopyTraits {
  readonly Body: LazyBodyClass
  readonly tellsStatusText: boolean
  readonly context: null | undefined
  readonly forgivesFailure: boolean
  /** The version's own reading of what is not ASCII. */
  readonly decodeHeaders: (raw: RawHeader[]) => HeaderRecord
}

/** One call by a copy's `request`. */
export class RequestedCall implements ExchangeHandler, BodySupply, Deadline {
  readonly #traits: CopyTraits
  readonly #call: PlannedCall
  readonly #resolve: (result: unknown) => void
  readonly #reject: (error: unknown) => void
  readonly #trailers: HeaderRecord = {}
  #exchange: Exchange | undefined
  #deadline: Running | undefined
  #body: LazyBody | undefined
  #over = false
  #unlisten: (() => void) | undefined

  constructor(
    traits: CopyTraits,
    call: PlannedCall,
    resolve: (result: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#traits = traits
    this.#call = call
    this.#resolve = resolve
    this.#reject = reject
  }

  start(): void {
    const { route, stated, signal } = this.#call
    if (signal !== undefined) this.#listen(signal)
    try {
      this.#exchange = startCall(route, stated.request, this)
      this.#deadline = startDeadline(stated.headersTimeout ?? defaultTimeout, this)
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  onHead(head: ResponseHead): void {
    if (this.#over) return
    const headers = this.#decode(head.headers)
    const body = (this.#body = this.#createBody(headers))
    this.#limitBody()
    // While somebody may abort, the body has a listener, as it has in undici.
    if (this.#unlisten !== undefined) body.on('close', this.#unlisten)
    const { opaque } = this.#call
    const { context, tellsStatusText } = this.#traits
    const trailers = this.#trailers
    const { status: statusCode } = head
    this.#resolve(
      tellsStatusText
        ? { statusCode, statusText: statusTextOf(head), headers, trailers, opaque, body, context }
        : { statusCode, headers, trailers, opaque, body, context },
    )
  }

  onData(chunk: Uint8Array | string): boolean {
    if (this.#over || this.#body === undefined) return true
    if (this.#body.arrive(chunk)) {
      if (this.#deadline !== undefined) refreshDeadline(this.#deadline)
      return true
    }
    this.#unlimit()
    return false
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    if (this.#over) return
    this.#over = true
    this.#unlimit()
    Object.assign(this.#trailers, this.#decode(trailers))
    this.#body?.finish()
  }

  onError(error: Error): void {
    if (!this.#over) this.#fail(toClientError(error))
  }

  resume(): void {
    if (this.#over) return
    this.#deadline ??= startDeadline(this.#call.stated.bodyTimeout ?? defaultTimeout, this)
    this.#exchange?.resume()
  }

  /** The reader has destroyed the body. */
  abort(): void {
    if (this.#over) return
    this.#over = true
    this.#unlimit()
    this.#exchange?.abort(abortedError())
  }

  expire(): void {
    this.#fail(this.#body === undefined ? headersTimeoutError() : bodyTimeoutError())
    this.#exchange?.abort()
  }

  #decode(headers: ResponseHead['headers']): HeaderRecord {
    const record: HeaderRecord = {}
    for (const name in headers) {
      const value = headers[name]!
      // What is repeated, or not ASCII, the versions read each in its own way.
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
    this.#unlimit()
    const body = this.#body
    if (body === undefined) {
      this.#unlisten?.()
      return this.#reject(error)
    }
    // What has arrived is told first.
    queueMicrotask(() => {
      if (this.#traits.forgivesFailure) body.on('error', () => {})
      if (!body.destroyed) body.destroy(error)
    })
  }

  #limitBody(): void {
    const limit = this.#call.stated.bodyTimeout ?? defaultTimeout
    if (this.#deadline?.queue.limit === limit) return refreshDeadline(this.#deadline)
    this.#unlimit()
    this.#deadline = startDeadline(limit, this)
  }

  #unlimit(): void {
    clearDeadline(this.#deadline)
    this.#deadline = undefined
  }
}
