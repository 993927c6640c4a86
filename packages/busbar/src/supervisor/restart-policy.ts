import type { Timing } from './timing.ts'

/**
 * How long a restart waits: the first is at once, then exponential backoff with a cap, without end.
 * A success that held for `timing.stable` milliseconds resets the series.
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

  /**
   * `held`: milliseconds between the last success and this failure; 0 without a success. Returns
   * milliseconds to wait.
   */
  failed(held: number): number {
    const { backoff, backoffMax, stable } = this.#timing
    this.#failures = held >= stable ? 1 : this.#failures + 1
    if (this.#failures === 1) return 0
    const wait = Math.min(backoff * 2 ** (this.#failures - 2), backoffMax)
    // Jitter, 80 to 100 % of the wait: workers that died of the same cause must not restart in
    // step.
    return Math.round(wait * (0.8 + 0.2 * Math.random()))
  }

  /** After a restart on request. */
  reset(): void {
    this.#failures = 0
  }
}
