/** How precise the response timeout is. */
const ticksPerTimeout = 8

/**
 * The ticks by which all requests of a gateway are timed: one timer for all of them, and no clock
 * read per request.
 */
export class ResponseTimeout {
  /** To be remembered as the start of a wait. */
  now = 0
  readonly #timer: NodeJS.Timeout | undefined

  /** `timeout`: in milliseconds; 0 for none. Each tick calls `look`, to find what is overdue. */
  constructor(timeout: number, look: () => void) {
    if (timeout === 0) return
    const tick = (): void => {
      this.now++
      look()
    }
    this.#timer = setInterval(tick, Math.max(1, timeout / ticksPerTimeout)).unref()
  }

  /** Whether a wait that began at the tick `since` has been too long. */
  isOver(since: number): boolean {
    return this.now - since > ticksPerTimeout
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
