/** Milliseconds after which waiting locks are checked without a wake-up. */
export const checkInterval = 20

/** A lock that waits. Both methods return true while it still waits. */
export interface WaitingLock {
  attempt(): boolean
  /** The same, after {@link checkInterval} without a wake-up. */
  attemptLate(): boolean
}

/**
 * Waits on behalf of all locks that wait in this thread, with one `Atomics.waitAsync` on the
 * thread's wake-up counter. That does not keep Node alive, but the timer does; it also recovers
 * wake-ups that are lost if a thread dies.
 */
export class LockWaiter {
  readonly #cells: Int32Array
  readonly #counter: number
  readonly #waiting = new Set<WaitingLock>()
  #timer: ReturnType<typeof setInterval> | undefined
  #isListening = false

  constructor(cells: Int32Array, counter: number) {
    this.#cells = cells
    this.#counter = counter
  }

  /** The number of wake-ups so far: read it before checking what one waits for. */
  get wakeups(): number {
    return Atomics.load(this.#cells, this.#counter)
  }

  /** Lets the lock try now and after each wake-up, until it no longer waits. */
  add(lock: WaitingLock): void {
    this.#waiting.add(lock)
    this.#timer ??= setInterval(() => this.#round((one) => one.attemptLate()), checkInterval)
    this.#listen()
  }

  /**
   * Blocks the thread. False if there was no wake-up for {@link checkInterval}, or for `timeout`
   * milliseconds if that is shorter.
   */
  sleep(since: number, timeout: number): boolean {
    return Atomics.wait(this.#cells, this.#counter, since, Math.min(timeout, checkInterval)) !== 'timed-out'
  }

  /** Repeats until no lock waits, or all have checked since the last wake-up. */
  #listen(): void {
    for (;;) {
      const since = this.wakeups
      this.#round((one) => one.attempt())
      if (this.#waiting.size === 0 || this.#isListening) return
      const woken = Atomics.waitAsync(this.#cells, this.#counter, since)
      if (!woken.async) continue
      this.#isListening = true
      void woken.value.then(() => {
        this.#isListening = false
        this.#listen()
      })
      return
    }
  }

  #round(attempt: (one: WaitingLock) => boolean): void {
    for (const one of this.#waiting) if (!attempt(one)) this.#waiting.delete(one)
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
