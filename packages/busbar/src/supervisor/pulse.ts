import { threadsNow } from '../shared/metrics/worker-cells.ts'

/** Milliseconds; a third of the age at which a worker is stale. */
export const reportInterval = 333

interface Job {
  readonly interval: number
  readonly run: () => unknown
  /** When it ran last; of {@link threadsNow}. */
  last: number
}

/**
 * Runs what the supervisor does several times a second, by one timer. The processor time of an idle
 * supervisor depends on how often it wakes up (0.3 ms each, on a virtual machine), not on how much
 * it then does.
 */
export class Pulse {
  readonly #jobs = new Set<Job>()
  #timer: NodeJS.Timeout | undefined
  #tick = Infinity

  /**
   * Calls `run` about every `interval` milliseconds until the returned function is called: at the
   * tick that is nearest. The shortest interval is the length of a tick.
   */
  every(interval: number, run: () => unknown): () => void {
    const job = { interval, run, last: threadsNow() }
    this.#jobs.add(job)
    this.#keepTime()
    return () => {
      this.#jobs.delete(job)
      this.#keepTime()
    }
  }

  #keepTime(): void {
    const tick = Math.min(...[...this.#jobs].map(({ interval }) => interval), reportInterval)
    if (this.#jobs.size > 0 && tick === this.#tick) return
    clearInterval(this.#timer)
    this.#tick = this.#jobs.size > 0 ? tick : Infinity
    if (this.#jobs.size > 0) this.#timer = setInterval(() => this.#beat(), tick).unref()
  }

  #beat(): void {
    const now = threadsNow()
    for (const job of this.#jobs) {
      if (now - job.last < job.interval - this.#tick / 2) continue
      job.last = now
      job.run()
    }
  }
}
