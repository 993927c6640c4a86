import { allocate } from './allocate.ts'

/**
 * An integer from -2^31 to 2^31 - 1, shared by all threads. 32 bits, because 64-bit atomics use
 * `bigint`, which V8 neither keeps in registers nor inlines. Results beyond the range wrap, as in
 * `Atomics`.
 */
export class Atomic {
  readonly name: string
  readonly #cells: Int32Array
  readonly #at: number

  constructor(name: string) {
    const { membership, at } = allocate('atomic', name)
    this.name = name
    this.#cells = membership.cells
    this.#at = at
  }

  load(): number {
    return Atomics.load(this.#cells, this.#at)
  }

  store(value: number): void {
    Atomics.store(this.#cells, this.#at, value)
  }

  /** Returns the previous value. */
  add(by: number): number {
    return Atomics.add(this.#cells, this.#at, by)
  }

  /** Returns the previous value: `expected` if the value was replaced. */
  compareExchange(expected: number, replacement: number): number {
    return Atomics.compareExchange(this.#cells, this.#at, expected, replacement)
  }
}
