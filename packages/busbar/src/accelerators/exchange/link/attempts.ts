import { BusbarError } from '../../../contract/errors.ts'
import type { Admission, RemoteEndpoint } from '../../../mesh/endpoint.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest, ResponseHead } from '../../../mesh/http/exchange.ts'
import { exhaustedProblem } from '../../../mesh/problem.ts'
import { tellProblem } from '../tell-problem.ts'
import { callAborted } from '../errors.ts'
import { isIdempotent, type Repeat, unreached, withRepeat } from '../../../mesh/repeats.ts'
import { LinkExchange } from './link-exchange.ts'
import type { Chunk, Trailers } from '../../../mesh/http/wire.ts'

export interface AttemptParts {
  readonly endpoint: RemoteEndpoint
  readonly request: ExchangeRequest
  readonly handler: ExchangeHandler
  readonly open: (handler: ExchangeHandler) => LinkExchange
  /** The same by another instance; undefined where there is none, or none that does this by exchange. */
  readonly openElsewhere: (handler: ExchangeHandler) => Exchange | undefined
}

/**
 * A request as more than one exchange: it waits where its service has a limit to what it does at a time, and is made once
 * more elsewhere where its instance is gone, if that cannot do anything twice.
 */
export class Attempts implements Exchange, ExchangeHandler {
  readonly #parts: AttemptParts
  /** Undefined while the request waits to be admitted. */
  #exchange: Exchange | undefined
  #admitted: Admission | undefined
  /** Of a request that has to ask whether there is room for it. */
  #waiting: AbortController | undefined
  /** What the caller has sent meanwhile. */
  readonly #early: ((exchange: Exchange) => void)[] = []
  #state: 'first' | 'second' | 'answered' = 'first'

  constructor(parts: AttemptParts) {
    this.#parts = parts
    if (parts.endpoint.admission === undefined) this.#start()
    else this.#enter(parts.endpoint.admission)
  }

  // The caller's side

  write(chunk: Chunk): boolean {
    if (this.#exchange !== undefined) return this.#exchange.write(chunk)
    const ours = Buffer.from(chunk as string)
    this.#early.push((exchange) => exchange.write(ours) && this.onDrain())
    return false
  }

  end(trailers?: string[]): void {
    if (this.#exchange !== undefined) this.#exchange.end(trailers)
    else this.#early.push((exchange) => exchange.end(trailers))
  }

  resume(): void {
    this.#exchange?.resume()
  }

  abort(error: Error = callAborted(this.#parts.endpoint.service)): void {
    this.#state = 'answered'
    if (this.#exchange === undefined) return this.#waiting?.abort(error)
    // The instance may be busy with it still.
    this.#leave(true)
    this.#exchange.abort(error)
  }

  // What becomes of the exchange

  onInformation(status: number, headers: ResponseHead['headers']): void {
    this.#state = 'answered'
    this.#parts.handler.onInformation?.(status, headers)
  }

  onHead(head: ResponseHead): void {
    this.#state = 'answered'
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
    const mayRepeat = this.#mayRepeat(error)
    this.#leave()
    const next = mayRepeat ? this.#parts.openElsewhere(this) : undefined
    if (next === undefined) return this.#failed(error)
    this.#state = 'second'
    this.#exchange = next
  }

  #enter(admission: Admission): void {
    const refused = (error: Error): void => this.onError(error)
    const { signal } = (this.#waiting = new AbortController())
    try {
      const entering = admission.enter(undefined, signal)
      if (entering === undefined) this.#start()
      else void entering.then(() => this.#start(), refused)
    } catch (error) {
      process.nextTick(refused, error)
    }
  }

  #start(): void {
    this.#admitted = this.#parts.endpoint.admission
    // It may have been given up just when it was let in.
    const signal = this.#waiting?.signal
    if (signal?.aborted === true) return this.onError(signal.reason as Error)
    const exchange = (this.#exchange = this.#parts.open(this))
    for (const send of this.#early.splice(0)) send(exchange)
  }

  /** A service that is busy says so as a server does, and not as one that cannot be reached. */
  #failed(error: Error): void {
    const { handler, endpoint } = this.#parts
    const isRefusal = this.#state !== 'answered' && BusbarError.is(error, 'RESOURCE_EXHAUSTED')
    if (isRefusal) tellProblem(exhaustedProblem(error, endpoint.service), handler)
    else handler.onError(BusbarError.is(error) ? this.#inFull(error) : error)
  }

  #mayRepeat(error: Error): boolean {
    const { request, endpoint } = this.#parts
    const exchange = this.#exchange
    if (this.#state !== 'first' || request.streamed || !(exchange instanceof LinkExchange)) return false
    if (exchange.isUntouched) return wasRefused(error) || (BusbarError.is(error) && unreached.has(error.code))
    return isIdempotent(request.method) && endpoint.link.state === 'closed'
  }

  #inFull(error: BusbarError): BusbarError {
    const record = error.toRecord()
    const full = withRepeat(record, this.#repeat)
    return full === record ? error : BusbarError.fromRecord(full)
  }

  get #repeat(): Repeat {
    if (this.#state === 'second') return 'done'
    if (this.#state === 'answered' || !(this.#exchange instanceof LinkExchange)) return 'none'
    return isIdempotent(this.#parts.request.method) ? 'nowhere' : 'unsafe'
  }

  #leave(givenUp = false): void {
    this.#admitted?.leave(givenUp)
    this.#admitted = undefined
  }
}

function wasRefused({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNREFUSED'
}
