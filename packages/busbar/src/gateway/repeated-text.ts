import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarError } from '../contract/errors.ts'
import type { RemoteEndpoint } from '../mesh/endpoint.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest, ResponseHead } from '../mesh/http/exchange.ts'
import { TextExchange } from '../mesh/http/text-exchange.ts'
import { isIdempotent, withRepeat } from '../mesh/repeats.ts'

export interface RepeatedTextParts {
  readonly endpoint: RemoteEndpoint
  readonly request: ExchangeRequest
  readonly handler: ExchangeHandler
  readonly open: (handler: ExchangeHandler) => Exchange
  /** The same by another instance; undefined where there is none. */
  readonly openElsewhere: (handler: ExchangeHandler) => Exchange | undefined
}

/** Milliseconds that a worker may take to answer on its link, or its end to show there, once a connection to it has broken. */
const fateTime = 2000

/**
 * A request as text to an instance in another worker. A connection that breaks does not tell whether the program has hung up or
 * its worker has died; the link to it does. In the second case an idempotent request is made once more elsewhere.
 */
export class RepeatedText implements Exchange, ExchangeHandler {
  readonly #parts: RepeatedTextParts
  #exchange: Exchange
  #state: 'first' | 'second' | 'answered' | 'aborted' = 'first'

  constructor(parts: RepeatedTextParts) {
    this.#parts = parts
    this.#exchange = parts.open(this)
  }

  /** It went over a connection that another request had used before. */
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
    if (this.#state === 'first') void this.#judge(error)
    else this.#parts.handler.onError(error)
  }

  async #judge(failure: Error): Promise<void> {
    const { endpoint, request, handler, openElsewhere } = this.#parts
    const { link } = endpoint
    await Promise.race([link.heard(), sleep(fateTime, undefined, { ref: false })])
    const lost = link.state === 'closed' ? await link.closed : undefined
    if (this.#state !== 'first') return
    this.#state = 'second'
    if (lost === undefined) return handler.onError(failure)
    const mayRepeat = isIdempotent(request.method) && !request.streamed
    const next = mayRepeat ? openElsewhere(this) : undefined
    if (next !== undefined) this.#exchange = next
    else handler.onError(BusbarError.fromRecord(withRepeat(lost, mayRepeat ? 'nowhere' : 'unsafe')))
  }
}
