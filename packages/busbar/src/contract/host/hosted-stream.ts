import { type CallEdge, succeeded } from '../call/call-edge.ts'
import { abortedBy } from '../call/end-reasons.ts'
import type { LiveCall } from '../call/live-call.ts'
import type { BusbarError } from '../errors.ts'
import type { HostingService } from './hosting-service.ts'

/** How a stream uses its method. */
export interface Source {
  open(): Promise<AsyncIterator<unknown>>
  /** Validates a value on its way out. */
  pass(value: unknown): Promise<unknown>
  fail(thrown: unknown): Promise<BusbarError<string>>
}

type State =
  | { readonly is: 'idle' }
  | { readonly is: 'open'; readonly iterator: Promise<AsyncIterator<unknown>> }
  | { readonly is: 'over' }

const done = { done: true, value: undefined } as const
type Step = IteratorResult<unknown, undefined>

/**
 * A stream as its caller reads it. Written by hand because an async generator's `return()` waits
 * for a pending `next()`: a caller leaving a stream whose method hangs would hang too. The method
 * produces one value at a time, on demand, so a slow reader slows it down.
 */
export class HostedStream implements AsyncIterableIterator<unknown, undefined, undefined> {
  readonly call: LiveCall
  readonly #service: HostingService
  readonly #source: Source
  #state: State = { is: 'idle' }
  /** The `next()` in progress. */
  #pending: PromiseWithResolvers<Step> | undefined
  /** Why the call ended while no `next()` was pending; the following `next()` rejects with it. */
  #failure: BusbarError | undefined
  /** True once a value was delivered: a caller that leaves after that has had its answer. */
  #hasPassed = false
  /** Serialises concurrent calls of `next()`. */
  #turn: Promise<unknown> | undefined

  readonly #edge: CallEdge | undefined
  #began: number | undefined

  /** `edge`: counts the call for its caller. */
  constructor(call: LiveCall, service: HostingService, source: Source, edge?: CallEdge) {
    this.#edge = edge
    this.call = call
    this.#service = service
    this.#source = source
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The first one begins at once, so that the call counts even if its worker dies in this turn. */
  next(): Promise<Step> {
    const turn = this.#turn?.then(() => this.#step()) ?? this.#step()
    this.#turn = turn.catch(() => {})
    return turn
  }

  /**
   * The caller leaves. The method is notified by its signal and its own `return()`, and is not
   * awaited.
   */
  async return(): Promise<Step> {
    this.#leave()
    return done
  }

  async throw(error: unknown): Promise<Step> {
    this.#leave()
    throw error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave()
  }

  async #step(): Promise<Step> {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
    if (this.#state.is === 'over') return done
    const pending = Promise.withResolvers<Step>()
    this.#pending = pending
    try {
      const step = this.#state.is === 'idle' ? this.#begin() : this.#pull()
      step.then(pending.resolve, pending.reject)
      const { done: isOver } = await pending.promise
      if (isOver === true) this.#finish()
      return await pending.promise
    } catch (thrown) {
      const error = await this.#source.fail(thrown)
      this.#break(error.status)
      throw error
    } finally {
      this.#pending = undefined
    }
  }

  async #begin(): Promise<Step> {
    const refusal = this.#service.refusal(this.#edge)
    if (refusal !== undefined) throw refusal
    this.#service.countStart()
    this.#began = this.#edge?.begin()
    const iterator = Promise.withResolvers<AsyncIterator<unknown>>()
    // The pending step handles the rejection; an interrupted one does not.
    iterator.promise.catch(() => {})
    this.#state = { is: 'open', iterator: iterator.promise }
    this.call.watch((reason) => this.#ended(reason))
    if (this.call.endReason) iterator.reject(this.call.endReason)
    else this.#enter(() => this.#source.open()).then(iterator.resolve, iterator.reject)
    return await this.#pull()
  }

  async #pull(): Promise<Step> {
    if (this.#state.is !== 'open') return done
    const iterator = await this.#state.iterator
    const step = await this.#enter(async () => await iterator.next())
    if (step.done === true) return done
    const value = await this.#source.pass(step.value)
    this.#hasPassed = true
    return { done: false, value }
  }

  /**
   * A generator's body runs in the async context of its consumer, which must not be the caller's.
   */
  #enter<R>(run: () => R): R {
    const { enter } = this.#service.options
    return enter === undefined ? run() : enter(this.call, run, undefined, false)
  }

  #ended(reason: BusbarError): void {
    if (this.#state.is === 'over') return
    if (this.#pending === undefined) this.#failure = reason
    else this.#pending.reject(reason)
    this.#break(reason.status, !this.#hasPassed || reason.status >= 500)
  }

  #leave(): void {
    const state = this.#state
    if (state.is === 'over') return
    const pending = this.#pending
    this.#state = { is: 'over' }
    this.#failure = undefined
    if (state.is === 'open') {
      this.call.end(abortedBy(this.call))
      this.#service.countEnd(false)
      this.#edge?.end(succeeded, this.#began)
      this.#returnFrom(state.iterator)
    }
    pending?.resolve(done)
  }

  /** Ends before the method did: the method is notified, not awaited. */
  #break(status: number, failed = status >= 500): void {
    const state = this.#state
    this.#finish(status, failed)
    if (state.is !== 'open') return
    this.#returnFrom(state.iterator)
  }

  #returnFrom(opened: Promise<AsyncIterator<unknown>>): void {
    void opened.then((iterator) => this.#enter(async () => await iterator.return?.())).catch(() => {})
  }

  #finish(status = succeeded, failed = false): void {
    const state = this.#state
    this.#state = { is: 'over' }
    if (state.is !== 'open') return
    this.call.settle()
    this.#service.countEnd(failed)
    this.#edge?.end(status, this.#began)
  }
}
