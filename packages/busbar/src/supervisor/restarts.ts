import type { Timing } from './timing.ts'

/**
 * How long a restart waits: not at all after the first failure, then exponential backoff with a cap, for ever. What held for
 * `timing.stable` milliseconds before it failed starts the series anew.
 */
export class RestartPolicy {
  readonly #timing: Pick<Timing, 'backoff' | 'backoffMax' | 'stable'>
  #failures = 0

  constructor(timing: Pick<Timing, 'backoff' | 'backoffMax' | 'stable'>) {
    this.#timing = timing
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /** `held`: milliseconds between the last success and this failure, 0 without one. Returns milliseconds to wait. */
  failed(held: number): number {
    const { backoff, backoffMax, stable } = this.#timing
    this.#failures = held >= stable ? 1 : this.#failures + 1
    if (this.#failures === 1) return 0
    const wait = Math.min(backoff * 2 ** (this.#failures - 2), backoffMax)
    // Workers that died of the same cause must not come back in step: 80 to 100 % of the wait.
    return Math.round(wait * (0.8 + 0.2 * Math.random()))
  }

  /** Somebody asked for a new start. */
  forget(): void {
    this.#failures = 0
  }
}
