/** Milliseconds. */
const window = 1000

interface Counts {
  startedAt: number
  lines: number
  dropped: number
}

/**
 * Limits the log lines of each service. Within each second the first lines pass. A notice with the
 * number of dropped lines follows when the second is over.
 */
export class RateLimit implements Disposable {
  readonly #perSecond: number
  readonly #notice: (service: string, dropped: number) => void
  readonly #services = new Map<string, Counts>()
  #timer: NodeJS.Timeout | undefined

  constructor(perSecond: number, notice: (service: string, dropped: number) => void) {
    this.#perSecond = perSecond
    this.#notice = notice
  }

  /** Whether one more line of this service may pass now. */
  admits(service: string): boolean {
    const now = performance.now()
    let counts = this.#services.get(service)
    if (counts === undefined) {
      counts = { startedAt: now, lines: 0, dropped: 0 }
      this.#services.set(service, counts)
    }
    if (now - counts.startedAt >= window) {
      this.#report(service, counts)
      counts.startedAt = now
      counts.lines = 0
    }
    if (counts.lines < this.#perSecond) {
      counts.lines++
      return true
    }
    counts.dropped++
    this.#timer ??= setTimeout(() => this.#reportAll(), window).unref()
    return false
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#reportAll()
  }

  #reportAll(): void {
    this.#timer = undefined
    for (const [service, counts] of this.#services) this.#report(service, counts)
  }

  #report(service: string, counts: Counts): void {
    if (counts.dropped === 0) return
    this.#notice(service, counts.dropped)
    counts.dropped = 0
  }
}
