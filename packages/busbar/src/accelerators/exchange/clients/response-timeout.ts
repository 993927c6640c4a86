import { clearDeadline, refreshDeadline, startDeadline, type Deadline, type RunningDeadline } from './deadlines.ts'
import { bodyTimeoutError, headersTimeoutError } from './undici-errors.ts'

/** Milliseconds. Default of undici and of the built-in `fetch`. */
const defaultLimit = 300_000

/** In milliseconds. 0 is no limit, undefined the default. */
export interface ResponseLimits {
  readonly headersTimeout?: number | undefined
  readonly bodyTimeout?: number | undefined
}

export interface TimedCall {
  /** `error`: undici's for the phase of the call. */
  onTimeout(error: Error): void
}

/**
 * Limits the time until the head of a call's response, then the time until each piece of its body.
 * No limit runs while the body waits for its reader.
 */
export class ResponseTimeout implements Deadline {
  readonly #call: TimedCall
  readonly #limits: ResponseLimits
  #phase: 'head' | 'body' = 'head'
  #running: RunningDeadline | undefined

  constructor(call: TimedCall, limits: ResponseLimits = {}) {
    this.#call = call
    this.#limits = limits
  }

  awaitHead(): void {
    this.#running = startDeadline(this.#limits.headersTimeout ?? defaultLimit, this)
  }

  /** Waits for the next piece of the body, or its end. */
  awaitBody(): void {
    this.#phase = 'body'
    const limit = this.#bodyLimit
    if (this.#running?.queue.limit === limit) return refreshDeadline(this.#running)
    this.stop()
    this.#running = startDeadline(limit, this)
  }

  /** The callee has shown that it is alive. */
  refresh(): void {
    if (this.#running !== undefined) refreshDeadline(this.#running)
  }

  /** `wanted`: the reader wants more. */
  onData(wanted: boolean): void {
    if (wanted) this.refresh()
    else this.stop()
  }

  /** The reader wants more. */
  resume(): void {
    this.#running ??= startDeadline(this.#bodyLimit, this)
  }

  stop(): void {
    clearDeadline(this.#running)
    this.#running = undefined
  }

  expire(): void {
    this.#call.onTimeout(this.#phase === 'head' ? headersTimeoutError() : bodyTimeoutError())
  }

  get #bodyLimit(): number {
    return this.#limits.bodyTimeout ?? defaultLimit
  }
}
