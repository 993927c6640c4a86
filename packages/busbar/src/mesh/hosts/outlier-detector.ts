/** Consecutive failures after which an address gets no calls for a while. */
export const failuresToEject = 5

/** Milliseconds of the first ejection. The next ones are longer, up to the maximum. */
const firstEjection = 5_000
const longestEjection = 300_000

export interface OutlierParts {
  /** False if too many hosts of the service are ejected already. */
  readonly mayEject: () => boolean
  /** Ejected or back. */
  readonly changed: (isEjected: boolean) => void
}

/**
 * Notices an address whose calls fail while its link is fine: what is behind it has failed. After
 * some failures in a row the address gets no calls for a while, unless half of the hosts that can
 * take its service's calls are ejected already: then the fault is more likely elsewhere.
 */
export class OutlierDetector {
  readonly #parts: OutlierParts
  #failures = 0
  #ejections = 0
  #returned = 0
  #timer: NodeJS.Timeout | undefined

  constructor(parts: OutlierParts) {
    this.#parts = parts
  }

  get isEjected(): boolean {
    return this.#timer !== undefined
  }

  succeeded(): void {
    this.#failures = 0
  }

  failed(): void {
    this.#failures++
    if (this.#failures < failuresToEject || this.isEjected || !this.#parts.mayEject()) return
    this.#failures = 0
    // After such a long time without an ejection, this is a new fault.
    if (performance.now() - this.#returned > longestEjection) this.#ejections = 0
    const time = Math.min(longestEjection, firstEjection * 2 ** this.#ejections++)
    this.#timer = setTimeout(() => this.#return(), time).unref()
    this.#parts.changed(true)
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #return(): void {
    this.#timer = undefined
    // Calls that ran when it was ejected have failed since.
    this.#failures = 0
    this.#returned = performance.now()
    this.#parts.changed(false)
  }
}
