/** Milliseconds after which those who wait look again though nobody has rung. */
export const slice = 20

/** Something that waits for the bell. Both return true as long as it does. */
export interface Attendant {
  attempt(): boolean
  /** The same when a slice of time is over. */
  attemptLate(): boolean
}

/**
 * Waits at this thread's bell, on behalf of all that wait in it: one `Atomics.waitAsync` for however many locks. That
 * does not keep Node alive, so a timer does, which also looks after what is lost where a thread dies.
 */
export class Doorman {
  readonly #cells: Int32Array
  readonly #bell: number
  readonly #waiting = new Set<Attendant>()
  #timer: ReturnType<typeof setInterval> | undefined
  #isListening = false

  constructor(cells: Int32Array, bell: number) {
    this.#cells = cells
    this.#bell = bell
  }

  /** How often it has been rung: read it before looking at what one waits for. */
  get bell(): number {
    return Atomics.load(this.#cells, this.#bell)
  }

  /** Lets it try now and whenever the bell rings, until it does not wait any more. */
  attend(attendant: Attendant): void {
    this.#waiting.add(attendant)
    this.#timer ??= setInterval(() => this.#round((one) => one.attemptLate()), slice)
    this.#listen()
  }

  /** Blocks the thread; false when it was not rung for a slice, or for `timeout` milliseconds if that is less. */
  sleep(since: number, timeout: number): boolean {
    return Atomics.wait(this.#cells, this.#bell, since, Math.min(timeout, slice)) !== 'timed-out'
  }

  /** Until nobody waits, or everybody waits for a bell that has not rung since they looked. */
  #listen(): void {
    for (;;) {
      const since = this.bell
      this.#round((one) => one.attempt())
      if (this.#waiting.size === 0 || this.#isListening) return
      const rung = Atomics.waitAsync(this.#cells, this.#bell, since)
      if (!rung.async) continue
      this.#isListening = true
      void rung.value.then(() => {
        this.#isListening = false
        this.#listen()
      })
      return
    }
  }

  #round(attempt: (one: Attendant) => boolean): void {
    for (const one of this.#waiting) if (!attempt(one)) this.#waiting.delete(one)
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
