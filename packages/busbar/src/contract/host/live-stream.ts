import { abortedBy, type LiveCall } from '../call.ts'
import type { BusbarError } from '../errors.ts'
import type { Around } from './hosted-method.ts'

/** What a stream does with its method. */
export interface Source {
  open(): Promise<AsyncIterator<unknown>>
  /** Checks a value on its way out. */
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
 * A stream as its caller reads it. Written by hand, since an async generator's `return()` waits for a pending `next()`:
 * whoever leaves a stream whose method hangs would hang with it. One value at a time: the method makes the next one when
 * it is asked for, so that a slow reader slows the method down.
 */
export class LiveStream implements AsyncIterableIterator<unknown, undefined, undefined> {
  readonly call: LiveCall
  readonly #around: Around
  readonly #source: Source
  #state: State = { is: 'idle' }
  /** The `next()` that is being answered. */
  #pending: PromiseWithResolvers<Step> | undefined
  /** Why the call ended while nobody was waiting for a value: the next `next()` says so. */
  #failure: BusbarError | undefined
  /** A value has been passed on: a reader that gives up from then on got its answer. */
  #hasPassed = false
  /** Calls of `next()` are answered in their order, also when they do not wait for each other. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(call: LiveCall, around: Around, source: Source) {
    this.call = call
    this.#around = around
    this.#source = source
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Step> {
    const turn = this.#turn.then(() => this.#step())
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** The caller has had enough: the method hears of it by its signal and by its own `return()`, and is not waited for. */
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
      this.#break(error.status >= 500)
      throw error
    } finally {
      this.#pending = undefined
    }
  }

  async #begin(): Promise<Step> {
    const refusal = this.#around.refusal()
    if (refusal !== undefined) throw refusal
    this.#around.began()
    const iterator = Promise.withResolvers<AsyncIterator<unknown>>()
    // Heard by the step that waits for it; one that was interrupted does not hear it.
    iterator.promise.catch(() => {})
    this.#state = { is: 'open', iterator: iterator.promise }
    this.call.watch((reason) => this.#ended(reason))
    if (this.call.hasEnded) iterator.reject(this.call.hasEnded)
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

  /** A generator's body runs in the context of whoever asks for the next value, which must not be the caller's. */
  #enter<R>(run: () => R): R {
    const { enter } = this.#around.options
    return enter === undefined ? run() : enter(this.call, run, undefined, false)
  }

  #ended(reason: BusbarError): void {
    if (this.#state.is === 'over') return
    if (this.#pending === undefined) this.#failure = reason
    else this.#pending.reject(reason)
    this.#break(!this.#hasPassed || reason.status >= 500)
  }

  #leave(): void {
    const state = this.#state
    if (state.is === 'over') return
    const pending = this.#pending
    this.#state = { is: 'over' }
    this.#failure = undefined
    if (state.is === 'open') {
      this.call.end(abortedBy(this.call))
      this.#around.left(false)
      this.#returnFrom(state.iterator)
    }
    pending?.resolve(done)
  }

  /** Over before the method was: it is told, and not waited for. */
  #break(failed: boolean): void {
    const state = this.#state
    this.#finish(failed)
    if (state.is !== 'open') return
    this.#returnFrom(state.iterator)
  }

  #returnFrom(opened: Promise<AsyncIterator<unknown>>): void {
    void opened.then((iterator) => this.#enter(async () => await iterator.return?.())).catch(() => {})
  }

  #finish(failed = false): void {
    const state = this.#state
    this.#state = { is: 'over' }
    if (state.is !== 'open') return
    this.call.settle()
    this.#around.left(failed)
  }
}
