/** Reproducible random numbers (mulberry32, public domain). */
export class SeededRandom {
  readonly seed: number
  #state: number

  /** `BUSBAR_SEED` reproduces a run. */
  constructor(seed = Number(process.env['BUSBAR_SEED'] ?? Math.floor(Math.random() * 2 ** 31))) {
    this.seed = seed
    this.#state = seed
  }

  /** From 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  /** From 0, below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  /** Exponentially distributed: the times between events that occur at random. */
  exponential(mean: number): number {
    return -Math.log(1 - this.next()) * mean
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
}
