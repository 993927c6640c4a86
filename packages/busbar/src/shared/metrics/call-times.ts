/**
 * How long the calls that an instance answers take in it, from every caller: a histogram of
 * `latency-buckets.ts`, as the instance sees it. What callers measure is in `edge-table.ts`; it
 * does not tell the instances of two generations apart.
 */
import { bucketCount, bucketOf } from './latency-buckets.ts'
import type { Sampler } from './sampler.ts'

/** Cells of one service in one worker; a multiple of 32, as are those of its counts. */
export const callTimesCells = Math.ceil(bucketCount / 32) * 32

export class CallTimes {
  readonly #cells: Uint32Array
  readonly #sampler: Sampler

  constructor(cells: Uint32Array, sampler: Sampler) {
    this.#cells = cells
    this.#sampler = sampler
  }

  /** A call begins. Undefined if it is not measured. */
  begin(): CallTimer | undefined {
    const weight = this.#sampler.next()
    return weight === 0 ? undefined : new CallTimer(this.#cells, weight)
  }
}

/** The time of one call, which counts if `end` is called. */
export class CallTimer {
  readonly #cells: Uint32Array
  readonly #weight: number
  readonly #began = performance.now()

  constructor(cells: Uint32Array, weight: number) {
    this.#cells = cells
    this.#weight = weight
  }

  readonly end = (): void => {
    const at = bucketOf(Math.ceil((performance.now() - this.#began) * 1000))
    this.#cells[at] = this.#cells[at]! + this.#weight
  }
}
