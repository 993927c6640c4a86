import { type ThreadIdentity, slotOf } from './thread-identity.ts'
import { counterInts, counterRowInts, countersAt } from './layout.ts'
import type { ThreadTable } from './thread-table.ts'

/** The low cell counts to 2^30: a number that V8 keeps unboxed everywhere, and never negative. */
const carryAt = 2 ** 30
const lowMask = carryAt - 1

/**
 * The cells of a counter: each thread has its own, which all others only read.
 *
 *     begun │ low │ done │ (unused)        value = done * 2^30 + low
 *
 * Counting is one plain store to `low`. Once in 2^30 it overflows: then `begun` is incremented,
 * `low` is reset, and `done` follows, in this order. A reader loads `done`, `low`, `begun`, in this
 * order. If `begun` equals `done`, `low` belongs to it; else a carry is in progress, and the value
 * is what the carry has already reached. So a reader never waits, even for a thread that died in
 * the middle, and values never decrease.
 */
const cell = { begun: 0, low: 1, done: 2 } as const

export class CounterCells {
  readonly #cells: Int32Array
  readonly #counter: number
  readonly #threads: ThreadTable
  /** This thread's own cells. */
  readonly #own: Int32Array

  constructor(cells: Int32Array, counter: number, threads: ThreadTable, me: ThreadIdentity) {
    this.#cells = cells
    this.#counter = counter
    this.#threads = threads
    const row = rowOf(slotOf(me), counter)
    this.#own = cells.subarray(row, row + counterInts)
    this.#finish()
  }

  /**
   * False if `by` is not a small integer or causes a carry, so that it was not counted; see
   * {@link addMuch}.
   */
  add(by: number): boolean {
    const own = this.#own
    const next = (own[cell.low]! + by) | 0
    if ((by & lowMask) !== by || next >= carryAt || next < 0) return false
    own[cell.low] = next
    return true
  }

  /** `by` is an integer of at least 0. */
  addMuch(by: number): void {
    const sum = this.#own[cell.low]! + by
    const begun = this.#own[cell.done]! + Math.floor(sum / carryAt)
    Atomics.store(this.#own, cell.begun, begun)
    Atomics.store(this.#own, cell.low, sum % carryAt)
    Atomics.store(this.#own, cell.done, begun)
  }

  read(): number {
    let sum = 0
    for (let slot = 0; slot < this.#threads.slots; slot++) sum += this.#readRow(rowOf(slot, this.#counter))
    return sum
  }

  #readRow(row: number): number {
    const done = Atomics.load(this.#cells, row + cell.done)
    const low = Atomics.load(this.#cells, row + cell.low)
    const begun = Atomics.load(this.#cells, row + cell.begun)
    return begun === done ? done * carryAt + low : begun * carryAt
  }

  /**
   * Completes a carry that the slot's previous thread did not finish: readers have already seen
   * `begun * 2^30`.
   */
  #finish(): void {
    const begun = Atomics.load(this.#own, cell.begun)
    if (begun === Atomics.load(this.#own, cell.done)) return
    Atomics.store(this.#own, cell.low, 0)
    Atomics.store(this.#own, cell.done, begun)
  }
}

function rowOf(slot: number, counter: number): number {
  return countersAt + slot * counterRowInts + counter * counterInts
}
