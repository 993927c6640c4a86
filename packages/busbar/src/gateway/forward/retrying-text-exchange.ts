import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorRecord, restoreError } from '../../contract/errors.ts'
import type { Link } from '../../mesh/links/link.ts'
import type { RemoteEndpoint } from '../../mesh/routing/endpoint.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest, ResponseHead } from '../../mesh/http/exchange.ts'
import { TextExchange } from '../../mesh/http/text-exchange.ts'
import { isIdempotent, withRetryOutcome } from '../../mesh/routing/retry.ts'

export interface RetryingTextParts {
  readonly endpoint: RemoteEndpoint
  readonly request: ExchangeRequest
  readonly handler: ExchangeHandler
  readonly open: (handler: ExchangeHandler) => Exchange
  /** Opens the request on another instance, and tells the caller. Undefined if there is none. */
  readonly openElsewhere: (handler: ExchangeHandler) => Exchange | undefined
}

/**
 * Milliseconds to wait, after a connection has broken, for the worker to respond on its link or for
 * the link to close.
 */
const lostCallTimeout = 2000

/**
 * A request as text to an instance in another worker. A broken connection does not tell whether the
 * program has closed it or its worker has died; the link to the worker does. If the worker has
 * died, an idempotent request is retried once on another instance.
 */
export class RetryingTextExchange implements Exchange, ExchangeHandler {
  readonly #parts: RetryingTextParts
  #exchange: Exchange
  #state: 'first' | 'second' | 'answered' | 'aborted' = 'first'

  constructor(parts: RetryingTextParts) {
    this.#parts = parts
    this.#exchange = parts.open(this)
  }

  /** True if the connection had carried another request before. */
  get isReused(): boolean {
    return this.#exchange instanceof TextExchange && this.#exchange.isReused
  }

  write(chunk: Uint8Array | string): boolean {
    return this.#exchange.write(chunk)
  }

  end(trailers?: string[]): void {
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
    this.#parts.handler.onInformation?.(status, headers)
  }

  onHead(head: ResponseHead): void {
    this.#state = 'answered'
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
    const lost = await lossOfWorker(endpoint.link)
    if (this.#state !== 'first') return
    this.#state = 'second'
    if (lost === undefined) return handler.onError(failure)
    const mayRetry = isIdempotent(request.method) && !request.streamed
    const next = mayRetry ? openElsewhere(this) : undefined
    if (next === undefined)
      return handler.onError(restoreError(withRetryOutcome(lost, mayRetry ? 'no-instance' : 'unsafe')))
    this.#exchange = next
  }
}

/** Why the worker behind `link` is lost. Undefined if it responds, or does not in time. */
export async function lossOfWorker(link: Link): Promise<ErrorRecord | undefined> {
  await Promise.race([link.acknowledged(), sleep(lostCallTimeout, undefined, { ref: false })])
  return link.state === 'closed' ? await link.failure : undefined
}
