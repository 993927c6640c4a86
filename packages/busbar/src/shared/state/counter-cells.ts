import { type Identity, slotOf } from './identity.ts'
import { counterInts, counterRowInts, countersAt } from './layout.ts'
import type { Threads } from './threads.ts'

/** The lower cell counts to 2^30: a number that V8 keeps unboxed everywhere, and never negative. */
const carryAt = 2 ** 30
const lowMask = carryAt - 1

/**
 * A counter: in each thread's row the cells that this thread counts in, and that all others only read.
 *
 *     begun │ low │ done │ (unused)        value = done * 2^30 + low
 *
 * To count is one plain store to `low`. Once in 2^30 it is full: then `begun` goes up, `low` starts anew, `done` follows, in this
 * order; who reads looks at `done`, `low`, `begun`, in that one. The same number in both: `low` belongs to it. Else the
 * carry is under way, and what it has already passed is the value. So a reader never waits, also not for a thread that
 * died half-way, and no value is smaller than the one before.
 */
const cell = { begun: 0, low: 1, done: 2 } as const

export class CounterCells {
  readonly #cells: Int32Array
  readonly #counter: number
  readonly #threads: Threads
  /** This thread's own cells. */
  readonly #own: Int32Array

  constructor(cells: Int32Array, counter: number, threads: Threads, me: Identity) {
    this.#cells = cells
    this.#counter = counter
    this.#threads = threads
    const row = rowOf(slotOf(me), counter)
    this.#own = cells.subarray(row, row + counterInts)
    this.#finish()
  }

  /** False: `by` is no small whole number, or too much for now, and was not counted; see {@link addMuch}. */
  add(by: number): boolean {
    const own = this.#own
    const next = (own[cell.low]! + by) | 0
    if ((by & lowMask) !== by || next >= carryAt || next < 0) return false
    own[cell.low] = next
    return true
  }

  /** `by` is a whole number, and not negative. */
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

  /** Where the slot's last tenant died within a carry: readers have been told `begun * 2^30`, so that is what it was. */
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
