import { setTimeout as sleep } from 'node:timers/promises'

const longestPauseMs = 5000

/**
 * The time that a session may spend on waiting until the machine leaves it alone again. Other guests of a host come in waves of half a
 * minute and more: what is measured again at once is disturbed again.
 */
export class Patience {
  #leftMs: number
  #lost = false

  constructor(leftMs: number) {
    this.#leftMs = leftMs
  }

  /** Something was lost to others: from now on it is looked before anything is measured. */
  afterLoss(): void {
    this.#lost = true
  }

  /**
   * Returns at once as long as nothing was lost. Otherwise when a glance finds the machine calm, when no patience is left, or on the signal; with the seconds that it took. The glances
   * count, and the last one may take longer than was left.
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
