import { type CallEdge, succeeded } from '../call/call-edge.ts'
import type { CallSite, LiveCall } from '../call/live-call.ts'
import type { BusbarError } from '../errors.ts'
import { pendingDataCheck, toCallError } from './failures.ts'
import type { CallTimer, HostingService } from './hosting-service.ts'

/** Receives the outcome of a call: exactly one of the two, once. */
export interface CallSink {
  answered(result: unknown): void
  failed(error: BusbarError<string>): void
}

export interface SinkAnswerParts {
  readonly site: CallSite
  readonly service: HostingService
  readonly sink: CallSink
  readonly call: LiveCall
  /** Counts the call for its caller. Undefined if the call is counted elsewhere. */
  readonly edge: CallEdge | undefined
}

/** Reports the outcome of one call to its sink, once. */
export class SinkAnswer {
  readonly #call: LiveCall
  readonly #site: CallSite
  readonly #service: HostingService
  readonly #sink: CallSink
  readonly #timer: CallTimer | undefined
  readonly #edge: CallEdge | undefined
  readonly #began: number | undefined

  /** The call counts from now on. */
  constructor({ site, service, sink, call, edge }: SinkAnswerParts) {
    this.#call = call
    this.#site = site
    this.#service = service
    this.#sink = sink
    this.#timer = service.countStart()
    this.#edge = edge
    this.#began = edge?.begin()
  }

  /** Continues with a value, or with what its promise resolves to. */
  when(value: unknown, goOn: (known: unknown) => void): void {
    let promise: Promise<unknown> | false
    try {
      promise = isThenable(value) && Promise.resolve(value)
    } catch (thrown) {
      // A getter or a proxy of the service: its `then` cannot be read.
      return this.failed(thrown)
    }
    if (!promise) return goOn(value)
    this.#call.arm()
    promise.then(goOn, (thrown) => this.failed(thrown))
  }

  passed(value: unknown): void {
    if (!this.#call.settle()) return
    this.#count(succeeded)
    this.#sink.answered(value)
  }

  failed(thrown: unknown): void {
    const checking = pendingDataCheck(thrown, this.#site)
    if (checking !== undefined) {
      const failed = (known: unknown): void => this.failed(known)
      this.#call.arm()
      return void checking.then(failed, failed)
    }
    if (!this.#call.settle()) return
    const error = toCallError(thrown, this.#site)
    this.#count(error.status)
    this.#sink.failed(error)
  }

  ended(reason: BusbarError): void {
    this.#count(reason.status, true)
    this.#sink.failed(reason)
  }

  #count(status: number, failed = status >= 500): void {
    this.#service.countEnd(failed)
    this.#timer?.end()
    this.#edge?.end(status, this.#began)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function'
}
