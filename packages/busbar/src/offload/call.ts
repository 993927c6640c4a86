import { deadlines, type Expiring } from '../contract/call/deadlines.ts'
import { fieldsOf, type Trace } from '../contract/context.ts'
import { BusbarError } from '../contract/errors.ts'
import { callerTrace } from '../shared/traces/task-trace.ts'
import { Wait } from '../shared/time/wait.ts'
import type { CancelReason } from './messages.ts'
import type { TransferableObject } from './transferable.ts'

export interface CallParts {
  readonly module: string
  readonly input: unknown
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly priority?: number | undefined
  readonly transfer?: readonly TransferableObject[] | undefined
}

/**
 * A task as its caller sees it. It settles once and then releases its timer and signal listener.
 */
export class OffloadCall implements Expiring {
  readonly parts: CallParts
  readonly trace: Trace | undefined
  readonly result: Promise<unknown>
  readonly deadline: number
  previous: Expiring | undefined
  next: Expiring | undefined
  bucket = 0
  /** Set when the task is asked to stop; it may still settle after that. */
  cancelled: CancelReason | undefined
  readonly #settle = Promise.withResolvers<unknown>()
  readonly #abort = (): void => this.#cancel('aborted')
  #onCancel: (reason: CancelReason) => void = () => {}
  #wait: Wait | undefined

  constructor(parts: CallParts) {
    this.parts = parts
    const trace = callerTrace()
    this.trace = trace && fieldsOf(trace)
    this.result = this.#settle.promise
    this.deadline = parts.timeout === undefined ? Infinity : performance.now() + parts.timeout
  }

  /** `onCancel` is called once, at the timeout or when the caller cancels. */
  begin(onCancel: (reason: CancelReason) => void): void {
    this.#onCancel = onCancel
    this.#wait = new Wait()
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

  /** `cause`: what the task threw when it was asked to stop, if that was an error of its own. */
  timedOut(where: string, cause?: unknown): BusbarError {
    const message = `a task did not finish within ${this.parts.timeout} ms: it ${where} (${this.parts.module})`
    const hint = 'Allow more time, or give the pool more threads.'
    return new BusbarError('DEADLINE_EXCEEDED', { message, hint, ...(cause !== undefined && { cause }) })
  }

  aborted(): BusbarError {
    const message = `a task was cancelled by its caller (${this.parts.module})`
    return new BusbarError('CALL_ABORTED', { message, cause: this.parts.signal?.reason })
  }

  #cancel(reason: CancelReason): void {
    if (this.cancelled !== undefined) return
    this.cancelled = reason
    this.#onCancel(reason)
  }

  #end(): void {
    this.#wait?.[Symbol.dispose]()
    this.#wait = undefined
    deadlines.remove(this)
    this.parts.signal?.removeEventListener('abort', this.#abort)
  }
}
