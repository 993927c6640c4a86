import { BusbarError, restoreError } from '../../../contract/errors.ts'
import type { Admission, RemoteEndpoint } from '../../../mesh/routing/endpoint.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest, ResponseHead } from '../../../mesh/http/exchange.ts'
import { exhaustedProblem } from '../../../mesh/http/problem-response.ts'
import { callAborted, respondWithProblem } from '../errors.ts'
import { SentBody } from '../../../mesh/http/sent-body.ts'
import { isIdempotent, type RetryOutcome, undeliveredCodes, withRetryOutcome } from '../../../mesh/routing/retry.ts'
import { LinkExchange } from './link-exchange.ts'
import type { Chunk, Trailers } from '../../../mesh/http/wire.ts'

export interface RetryingExchangeParts {
  readonly endpoint: RemoteEndpoint
  readonly request: ExchangeRequest
  readonly handler: ExchangeHandler
  readonly open: (handler: ExchangeHandler) => LinkExchange
  /**
   * Opens the request on another instance, and tells the caller. Undefined if none can do it by an
   * exchange.
   */
  readonly openElsewhere: (handler: ExchangeHandler) => Exchange | undefined
}

/**
 * A request that may need more than one exchange. It waits for admission if its service has a
 * concurrency limit, and is retried once on another instance if its instance is lost and the retry
 * is safe.
 */
export class RetryingExchange implements Exchange, ExchangeHandler {
  readonly #parts: RetryingExchangeParts
  /** Undefined while the request waits to be admitted. */
  #exchange: Exchange | undefined
  #admitted: Admission | undefined
  /** Aborts the wait for admission. */
  #waiting: AbortController | undefined
  /** What the caller has sent while the request waits. */
  readonly #early: ((exchange: Exchange) => void)[] = []
  /** Of a streamed request that may have to be sent again. */
  #sent: SentBody | undefined
  #state: 'first' | 'second' | 'answered' = 'first'

  constructor(parts: RetryingExchangeParts) {
    this.#parts = parts
    if (parts.request.streamed) this.#sent = new SentBody()
    if (parts.endpoint.admission === undefined) this.#start()
    else this.#enter(parts.endpoint.admission)
  }

  // Called by the caller

  write(chunk: Chunk): boolean {
    this.#sent?.write(chunk)
    if (this.#exchange !== undefined) return this.#exchange.write(chunk)
    const copy = Buffer.from(chunk as string)
    this.#early.push((exchange) => exchange.write(copy) && this.onDrain())
    return false
  }

  end(trailers?: string[]): void {
    this.#sent?.end(trailers)
    if (this.#exchange !== undefined) this.#exchange.end(trailers)
    else this.#early.push((exchange) => exchange.end(trailers))
  }

  resume(): void {
    this.#exchange?.resume()
  }

  abort(error: Error = callAborted(this.#parts.endpoint.service)): void {
    this.#state = 'answered'
    if (this.#exchange === undefined) return this.#waiting?.abort(error)
    // The instance may still be working on it.
    this.#leave(true)
    this.#exchange.abort(error)
  }

  // Called by the exchange

  /** Also for the second exchange. */
  onWaited(milliseconds: number): void {
    this.#parts.handler.onWaited?.(milliseconds)
  }

  onRefused(): void {
    this.#parts.handler.onRefused?.()
  }

  onInformation(status: number, headers: ResponseHead['headers']): void {
    this.#state = 'answered'
    this.#parts.handler.onInformation?.(status, headers)
  }

  onHead(head: ResponseHead): void {
    this.#state = 'answered'
    this.#sent = undefined
    this.#parts.handler.onHead(head)
  }

  onData(chunk: Chunk): boolean {
    return this.#parts.handler.onData(chunk)
  }

  onDrain(): void {
    this.#parts.handler.onDrain?.()
  }

  onEnd(trailers: Trailers): void {
    this.#leave()
    this.#parts.handler.onEnd(trailers)
  }

  onError(error: Error): void {
    const mayRetry = this.#mayRetry(error)
    this.#leave()
    const next = mayRetry ? this.#parts.openElsewhere(this) : undefined
    if (next === undefined) return this.#failed(error)
    this.#state = 'second'
    this.#exchange = next
    const sent = this.#sent
    this.#sent = undefined
    // Its caller may wait for the first instance to read.
    if (sent?.sendTo(next) === true) process.nextTick(() => this.onDrain())
  }

  #enter(admission: Admission): void {
    const since = performance.now()
    const refused = (error: Error): void => this.onError(error)
    const afterWait =
      <Value>(next: (value: Value) => void) =>
      (value: Value): void => {
        this.onWaited(performance.now() - since)
        next(value)
      }
    const { signal } = (this.#waiting = new AbortController())
    try {
      const entering = admission.enter(undefined, signal)
      if (entering === undefined) this.#start()
      else
        void entering.then(
          afterWait(() => this.#start()),
          afterWait(refused),
        )
    } catch (error) {
      process.nextTick(refused, error)
    }
  }

  #start(): void {
    this.#admitted = this.#parts.endpoint.admission
    // The caller may have aborted just before the admission.
    const signal = this.#waiting?.signal
    if (signal?.aborted === true) return this.onError(signal.reason as Error)
    const exchange = (this.#exchange = this.#parts.open(this))
    for (const send of this.#early.splice(0)) send(exchange)
  }

  /** A busy service gives a response, unlike one that cannot be reached. */
  #failed(error: Error): void {
    const { handler, endpoint } = this.#parts
    const isRefusal = this.#state !== 'answered' && BusbarError.is(error, 'RESOURCE_EXHAUSTED')
    if (isRefusal) {
      handler.onRefused?.()
      respondWithProblem(exhaustedProblem(error, endpoint.service), handler)
    } else handler.onError(BusbarError.is(error) ? this.#withOutcome(error) : error)
  }

  #mayRetry(error: Error): boolean {
    const { request, endpoint } = this.#parts
    const exchange = this.#exchange
    if (this.#state !== 'first' || !(exchange instanceof LinkExchange)) return false
    if (exchange.notStarted) return this.#sent?.isKept !== false && (wasRefused(error) || wasUndelivered(error))
    return !request.streamed && isIdempotent(request.method) && endpoint.link.state === 'closed'
  }

  #withOutcome(error: BusbarError): BusbarError {
    const record = error.toRecord()
    const full = withRetryOutcome(record, this.#retryOutcome)
    return full === record ? error : restoreError(full)
  }

  get #retryOutcome(): RetryOutcome {
    if (this.#state === 'second') return 'retried'
    if (this.#state === 'answered' || !(this.#exchange instanceof LinkExchange)) return 'none'
    if (this.#exchange.notStarted) return 'none'
    return isIdempotent(this.#parts.request.method) ? 'no-instance' : 'unsafe'
  }

  #leave(givenUp = false): void {
    this.#admitted?.leave(givenUp)
    this.#admitted = undefined
  }
}

function wasRefused({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNREFUSED'
}

function wasUndelivered(error: Error): boolean {
  return BusbarError.is(error) && undeliveredCodes.has(error.code)
}
