import { deadlines, type Expiring } from '../contract/deadlines.ts'
import { BusbarError } from '../contract/errors.ts'
import type { CancelReason } from './messages.ts'
import type { Movable } from './movable.ts'

export interface CallParts {
  readonly module: string
  readonly input: unknown
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly priority?: number | undefined
  readonly transfer?: readonly Movable[] | undefined
}

/** A task on its way, as its caller sees it: it settles once, and lets go of timer and signal then. */
export class OffloadCall implements Expiring {
  readonly parts: CallParts
  readonly result: Promise<unknown>
  readonly deadline: number
  previous: Expiring | undefined
  next: Expiring | undefined
  slot = 0
  /** Set when the task should stop, until which it may still settle. */
  cancelled: CancelReason | undefined
  readonly #settle = Promise.withResolvers<unknown>()
  readonly #abort = (): void => this.#cancel('aborted')
  #onCancel: (reason: CancelReason) => void = () => {}

  constructor(parts: CallParts) {
    this.parts = parts
    this.result = this.#settle.promise
    this.deadline = parts.timeout === undefined ? Infinity : performance.now() + parts.timeout
  }

  /** `onCancel` is told once, when the time is up or the caller gives up. */
  begin(onCancel: (reason: CancelReason) => void): void {
    this.#onCancel = onCancel
    if (this.deadline !== Infinity) deadlines.add(this)
    this.parts.signal?.addEventListener('abort', this.#abort, { once: true })
  }

  expire(): void {
    this.#cancel('timeout')
  }

  resolve(value: unknown): void {
    this.#end()
    this.#settle.resolve(value)
  }

  reject(error: unknown): void {
    this.#end()
    this.#settle.reject(error)
  }

  /** `cause` is what the task threw when it was told to stop, if it was something of its own. */
  timedOut(where: string, cause?: unknown): BusbarError {
    const message = `a task was not done within ${this.parts.timeout} ms: it ${where} (${this.parts.module})`
    const hint = 'allow more time, or give the pool more threads'
    return new BusbarError('DEADLINE_EXCEEDED', { message, hint, ...(cause !== undefined && { cause }) })
  }

  aborted(): BusbarError {
    const message = `the caller of a task gave up (${this.parts.module})`
    return new BusbarError('CALL_ABORTED', { message, cause: this.parts.signal?.reason })
  }

  #cancel(reason: CancelReason): void {
    if (this.cancelled !== undefined) return
    this.cancelled = reason
    this.#onCancel(reason)
  }

  #end(): void {
    deadlines.remove(this)
    this.parts.signal?.removeEventListener('abort', this.#abort)
  }
}
