import { restartLimit, type Timing } from './timing.ts'

/**
 * When a dead worker is replaced: at once, then after waits that double, and not at all once it died more than
 * {@link restartLimit} times within the window. Deaths older than the window are forgotten.
 */
export class RestartPolicy {
  readonly #timing: Pick<Timing, 'backoff' | 'backoffMax' | 'restartWindow'>
  readonly #limited: boolean
  #deaths: number[] = []

  constructor(timing: Pick<Timing, 'backoff' | 'backoffMax' | 'restartWindow'>, limited: boolean) {
    this.#timing = timing
    this.#limited = limited
  }

  /** Milliseconds to wait after a death at `now`, or undefined: give up. */
  died(now: number): number | undefined {
    this.#deaths = this.#deaths.filter((death) => now - death < this.#timing.restartWindow)
    this.#deaths.push(now)
    const deaths = this.#deaths.length
    if (deaths === 1) return 0
    if (this.#limited && deaths > restartLimit) return undefined
    const wait = Math.min(this.#timing.backoff * 2 ** (deaths - 2), this.#timing.backoffMax)
    // Workers that died of the same cause must not come back in step: 80 to 100 % of the wait.
    return Math.round(wait * (0.8 + 0.2 * Math.random()))
  }

  forget(): void {
    this.#deaths = []
  }
}
