import type { LoopDelays } from '../../shared/metrics/runtime-cells.ts'

/** Ten seconds of heartbeats. */
const kept = 100

/**
 * How late the heartbeat's timer was. It needs no timer of its own: the histogram of Node would
 * wake an idle worker for each of its samples.
 */
export class DelaySamples {
  readonly #samples: number[] = []
  #next = 0
  #last = 0

  /** Milliseconds. */
  add(delay: number): void {
    this.#last = Math.max(0, delay)
    this.#samples[this.#next] = this.#last
    this.#next = (this.#next + 1) % kept
  }

  read(): LoopDelays {
    const sorted = this.#samples.toSorted((one, other) => one - other)
    const { length } = sorted
    if (length === 0) return { last: 0, min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 }
    const at = (share: number): number => sorted[Math.ceil(length * share) - 1]!
    const mean = sorted.reduce((sum, delay) => sum + delay, 0) / length
    const variance = sorted.reduce((sum, delay) => sum + (delay - mean) ** 2, 0) / length
    return {
      last: this.#last,
      min: sorted[0]!,
      max: sorted[length - 1]!,
      mean,
      stddev: Math.sqrt(variance),
      p50: at(0.5),
      p90: at(0.9),
      p99: at(0.99),
    }
  }
}
