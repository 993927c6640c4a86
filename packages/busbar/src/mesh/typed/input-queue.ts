import { type BusbarError, type ErrorRecord, restoreError } from '../../contract/errors.ts'
import type { Channel } from '../links/link.ts'

type Step = IteratorResult<unknown, undefined>
const done = { done: true, value: undefined } as const

/**
 * The values of a caller in another worker. It buffers at most a window of them: a slow method
 * slows the caller down.
 */
export class InputQueue implements AsyncIterableIterator<unknown, undefined, undefined> {
  readonly #channel: Channel
  readonly #values: unknown[] = []
  #isOver = false
  #failure: BusbarError | undefined
  /** The read in progress: the method reads one value at a time. */
  #waiting: PromiseWithResolvers<Step> | undefined

  constructor(channel: Channel) {
    this.#channel = channel
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  push(value: unknown): void {
    if (this.#isOver) return
    const waiting = this.#waiting
    if (waiting === undefined) return void this.#values.push(value)
    this.#waiting = undefined
    this.#channel.consumed(1)
    waiting.resolve({ done: false, value })
  }

  end(): void {
    this.#isOver = true
    this.#waiting?.resolve(done)
  }

  fail(reason: ErrorRecord): void {
    this.#isOver = true
    this.#failure = restoreError(reason)
    this.#values.length = 0
    this.#waiting?.reject(this.#failure)
  }

  async next(): Promise<Step> {
    if (this.#values.length > 0) {
      this.#channel.consumed(1)
      return { done: false, value: this.#values.shift() }
    }
    if (this.#failure !== undefined) throw this.#failure
    if (this.#isOver) return done
    this.#waiting = Promise.withResolvers<Step>()
    return await this.#waiting.promise
  }

  async return(): Promise<Step> {
    this.#values.length = 0
    this.end()
    return done
  }
}
