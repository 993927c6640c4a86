import { restoreError } from '../../contract/errors.ts'
import type { RemoteEndpoint, TcpEndpoint } from '../../mesh/routing/endpoint.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest, ResponseHead } from '../../mesh/http/exchange.ts'
import { SentBody } from '../../mesh/http/sent-body.ts'
import { TextExchange } from '../../mesh/http/text-exchange.ts'
import { isIdempotent, withRetryOutcome } from '../../mesh/routing/retry.ts'
import { lossOf, wasRefused } from './lost-instance.ts'

export interface RetryingTextParts {
  readonly endpoint: RemoteEndpoint | TcpEndpoint
  readonly request: ExchangeRequest
  readonly handler: ExchangeHandler
  readonly open: (handler: ExchangeHandler) => Exchange
  /** Opens the request on another instance, and tells the caller. Undefined if there is none. */
  readonly openElsewhere: (handler: ExchangeHandler) => Exchange | undefined
}

/**
 * A request as text to an instance in another worker, or to a command. A broken connection does not
 * tell whether the program has closed it or has died; the link to its worker does, or a command's
 * port. If it has died, an idempotent request is retried once on another instance, as is any that
 * it has not got.
 */
export class RetryingTextExchange implements Exchange, ExchangeHandler {
  readonly #parts: RetryingTextParts
  #exchange: Exchange
  /** Of a streamed request that may have to be sent again. */
  #sent: SentBody | undefined
  #state: 'first' | 'second' | 'answered' | 'aborted' = 'first'

  constructor(parts: RetryingTextParts) {
    this.#parts = parts
    if (parts.request.streamed) this.#sent = new SentBody()
    this.#exchange = parts.open(this)
  }

  /** True if the connection had carried another request before. */
  get isReused(): boolean {
    return this.#exchange instanceof TextExchange && this.#exchange.isReused
  }

  write(chunk: Uint8Array | string): boolean {
    this.#sent?.write(chunk)
    return this.#exchange.write(chunk)
  }

  end(trailers?: string[]): void {
    this.#sent?.end(trailers)
    this.#exchange.end(trailers)
  }

  resume(): void {
    this.#exchange.resume()
  }

  abort(error?: Error): void {
    this.#state = 'aborted'
    this.#exchange.abort(error)
  }

  onInformation(status: number, headers: ResponseHead['headers']): void {
    // Another instance would send it again.
    this.#state = 'answered'
    this.#sent = undefined
    this.#parts.handler.onInformation?.(status, headers)
  }

  onHead(head: ResponseHead): void {
    this.#state = 'answered'
    this.#sent = undefined
    this.#parts.handler.onHead(head)
  }

  onData(chunk: Parameters<ExchangeHandler['onData']>[0]): boolean {
    return this.#parts.handler.onData(chunk)
  }

  onDrain(): void {
    this.#parts.handler.onDrain?.()
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#parts.handler.onEnd(trailers)
  }

  onError(error: Error): void {
    if (this.#state === 'first') void this.#retryIfLost(error)
    else this.#parts.handler.onError(error)
  }

  async #retryIfLost(failure: Error): Promise<void> {
    const { endpoint, request, handler, openElsewhere } = this.#parts
    const lost = await lossOf(endpoint, failure)
    if (this.#state !== 'first') return
    this.#state = 'second'
    if (lost === undefined) return handler.onError(failure)
    const mayRetry = isIdempotent(request.method) && !request.streamed
    const next = mayRetry || this.#isUntouched(failure) ? openElsewhere(this) : undefined
    if (next !== undefined) return this.#startSecond(next)
    if (endpoint.at === 'tcp') return handler.onError(failure)
    handler.onError(restoreError(withRetryOutcome(lost, mayRetry ? 'no-instance' : 'unsafe')))
  }

  #isUntouched(failure: Error): boolean {
    return wasRefused(failure) && this.#sent?.isKept !== false
  }

  #startSecond(next: Exchange): void {
    this.#exchange = next
    const sent = this.#sent
    this.#sent = undefined
    // The client may wait for the first instance to read.
    if (sent?.sendTo(next) === true) this.onDrain()
  }
}
