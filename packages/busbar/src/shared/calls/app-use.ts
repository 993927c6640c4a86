/**
 * What the calls of each other app take of this process, counted in memory that all worker threads
 * share: the limits hold for all of them together, wherever an app's links lead.
 *
 *     place 0 │ row 0: calls │ inputs │ unread │ row 1: … │ place 1 │ row 0: … │
 *
 * An app has the place that a hash of its name says. Two apps may have the same one and then share
 * the limits; the hash has a secret in it, so nobody can choose a name for that. Each row has one
 * writer, its worker, so plain stores suffice, and the counts of a worker that has ended are
 * cleared. Sizes are in KiB, since cells have 32 bits.
 */
import { createHash } from 'node:crypto'

const places = 2048
const cell = { calls: 0, inputs: 1, unread: 2 } as const
const cellsPerRow = 3

export type Used = keyof typeof cell

export class AppUse {
  readonly memory: SharedArrayBuffer
  readonly #cells: Int32Array
  readonly #rows: number

  constructor(rows: number, memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(places * rows * cellsPerRow * Int32Array.BYTES_PER_ELEMENT)
    this.#cells = new Int32Array(this.memory)
    this.#rows = rows
  }

  /** As the worker of `row` counts it. `secret`: the same in all workers. */
  of(app: string, row: number, secret: string): OneAppUse {
    const place = createHash('sha256').update(`${secret} ${app}`).digest().readUInt32LE() % places
    const first = place * this.#rows * cellsPerRow
    return new OneAppUse(this.#cells.subarray(first, first + this.#rows * cellsPerRow), row * cellsPerRow)
  }

  /** The worker of the row has ended. */
  clear(row: number): void {
    const cells = this.#cells
    // Memory that is only read is not allocated.
    for (let at = row * cellsPerRow; at < cells.length; at += this.#rows * cellsPerRow)
      for (let more = 0; more < cellsPerRow; more++) if (cells[at + more] !== 0) cells[at + more] = 0
  }
}

/** What the calls of one app take. `inputs` and `unread` are in KiB. */
export class OneAppUse {
  readonly #cells: Int32Array
  readonly #own: number

  constructor(cells: Int32Array, own: number) {
    this.#cells = cells
    this.#own = own
  }

  /** At all workers together. */
  total(what: Used): number {
    let sum = 0
    for (let at = cell[what]; at < this.#cells.length; at += cellsPerRow) sum += this.#cells[at]!
    return sum
  }

  /** At this worker. */
  add(what: Used, by: number): void {
    const at = this.#own + cell[what]
    this.#cells[at] = this.#cells[at]! + by
  }
}
