import { RestartPolicy } from '../restart-policy.ts'
import type { Timing } from '../timing.ts'
import type { WorkerExit } from './worker-exit.ts'

/** The deaths of a slot's workers, and the backoff that follows from them. */
export class DeathRecord {
  #count = 0
  #lastExit: WorkerExit | undefined
  readonly #policy: RestartPolicy
  /** When the current worker began to serve; of `Date.now()`. */
  #servedAt: number | undefined

  constructor(timing: Timing) {
    this.#policy = new RestartPolicy(timing)
  }

  get count(): number {
    return this.#count
  }

  get lastExit(): WorkerExit | undefined {
    return this.#lastExit
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#policy.failures
  }

  /** The current worker, or the one that died last, has served. */
  get hasServed(): boolean {
    return this.#servedAt !== undefined
  }

  starting(): void {
    this.#servedAt = undefined
  }

  serving(): void {
    this.#servedAt = Date.now()
  }

  died(exit: WorkerExit): void {
    this.#count++
    this.#lastExit = exit
  }

  /** Counts a failure. Returns milliseconds until the next start. */
  failed(): number {
    return this.#policy.failed(this.#servedAt === undefined ? 0 : Date.now() - this.#servedAt)
  }

  /** After a restart on request. */
  reset(): void {
    this.#policy.reset()
  }
}
