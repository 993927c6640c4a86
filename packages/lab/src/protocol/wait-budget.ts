import { setTimeout as sleep } from 'node:timers/promises'

const longestPauseMs = 5000

/**
 * The time that a session may spend waiting for a calm machine. Other guests of a host disturb it
 * for half a minute and more, so a slice that is repeated at once would be disturbed again.
 */
export class WaitBudget {
  #leftMs: number
  #lost = false

  constructor(leftMs: number) {
    this.#leftMs = leftMs
  }

  /** A slice was lost to steal. From now on {@link untilCalm} checks. */
  afterLoss(): void {
    this.#lost = true
  }

  /**
   * Returns at once if nothing was lost so far. Otherwise waits until `isCalm`, the budget is used
   * up, or the signal aborts. Returns the seconds that it took, including checks. The last check
   * may exceed the budget.
   */
  async untilCalm(isCalm: () => Promise<boolean>, signal?: AbortSignal): Promise<number> {
    if (!this.#lost) return 0
    const began = performance.now()
    const left = () => (signal?.aborted ? 0 : this.#leftMs - (performance.now() - began))
    for (let pause = 1000; left() > 0 && !(await isCalm()); pause = Math.min(2 * pause, longestPauseMs))
      await sleep(Math.max(0, Math.min(pause, left())), undefined, signal && { signal }).catch(() => {})
    const waited = performance.now() - began
    this.#leftMs -= waited
    return waited / 1000
  }
}
