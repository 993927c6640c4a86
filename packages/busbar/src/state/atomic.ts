import { placeOf } from './place.ts'

/**
 * One whole number from -2^31 to 2^31 - 1, changed by one thread at a time. Of 32 bits, since those of 64 are `bigint`s, which V8
 * neither keeps in registers nor inlines the operations of. What is added beyond wraps, as in `Atomics`.
 */
export class Atomic {
  readonly name: string
  readonly #cells: Int32Array
  readonly #at: number

  constructor(name: string) {
    const { membership, at } = placeOf('atomic', name)
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

  /** Returns what it was before. */
  add(by: number): number {
    return Atomics.add(this.#cells, this.#at, by)
  }

  /** Returns what it was before: `expected` if it was changed. */
  compareExchange(expected: number, replacement: number): number {
    return Atomics.compareExchange(this.#cells, this.#at, expected, replacement)
  }
}
