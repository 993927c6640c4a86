import { abortedBy } from '../call/end-reasons.ts'
import type { LiveCall } from '../call/live-call.ts'
import { BusbarError } from '../errors.ts'

type Step = IteratorResult<unknown, undefined>
const done = { done: true, value: undefined } as const

/**
 * The values of a caller, as the method reads them: one at a time, each validated. Written by hand,
 * because the end of the call must end a pending `next()`: the caller may never send another value.
 */
export class InputStream implements AsyncIterableIterator<unknown, undefined, undefined> {
  readonly #call: LiveCall
  readonly #values: AsyncIterator<unknown> | Iterator<unknown>
  readonly #pass: (value: unknown) => unknown
  #isOver = false
  #pending: PromiseWithResolvers<Step> | undefined

  constructor(call: LiveCall, values: AsyncIterator<unknown> | Iterator<unknown>, pass: (value: unknown) => unknown) {
    this.#call = call
    this.#values = values
    this.#pass = pass
    call.signal.addEventListener('abort', this.#abort)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<Step> {
    if (this.#call.endReason !== undefined) throw this.#call.endReason
    if (this.#isOver) return done
    const pending = Promise.withResolvers<Step>()
    this.#pending = pending
    this.#step().then(pending.resolve, pending.reject)
    try {
      return await pending.promise
    } catch (error) {
      this.#leave()
      throw error
    } finally {
      this.#pending = undefined
    }
  }

  async return(): Promise<Step> {
    this.#leave()
    return done
  }

  async #step(): Promise<Step> {
    const step = await this.#next()
    if (step.done !== true) return { done: false, value: await this.#pass(step.value) }
    this.#isOver = true
    this.#detach()
    return done
  }

  /** A caller whose iterable throws has cancelled the call. */
  async #next(): Promise<IteratorResult<unknown, unknown>> {
    try {
      return await this.#values.next()
    } catch (error) {
      if (BusbarError.is(error)) throw error
      throw abortedBy(this.#call)
    }
  }

  readonly #abort = (): void => {
    this.#pending?.reject(this.#call.endReason)
    this.#leave()
  }

  /** Notifies the caller and does not wait for it. */
  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#detach()
    void (async () => await this.#values.return?.())().catch(() => {})
  }

  #detach(): void {
    this.#call.signal.removeEventListener('abort', this.#abort)
  }
}

/** Undefined for what is not iterable. A text is one value, not its characters. */
export function iteratorOf(values: unknown): AsyncIterator<unknown> | Iterator<unknown> | undefined {
  if (typeof values !== 'object' || values === null) return undefined
  const { [Symbol.asyncIterator]: later, [Symbol.iterator]: now } = values as Partial<
    AsyncIterable<unknown> & Iterable<unknown>
  >
  if (later !== undefined) return Reflect.apply(later, values, [])
  return now && Reflect.apply(now, values, [])
}
