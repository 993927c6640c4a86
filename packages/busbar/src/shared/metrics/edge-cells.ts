/**
 * How a worker writes the calls of an edge into the cells of `edge-table.ts`, which describes them.
 */
import { bucketOf } from './latency-buckets.ts'
import { noWorker } from './worker-pair.ts'

export const outcomeHead = 8
export const edge = { caller: 0, callee: 1, kind: 2, begun: 3, over: 4, retries: 5, nameLength: 6, name: 7 } as const
export const outcome = { edge: 0, status: 1, count: 2, accounted: 3, sum: 4, last: 5, caller: 6, callee: 7 } as const

/** `bucket`: for its first calls, if they are not measured. */
type AddOutcome = (status: number, pair: number, bucket: number) => OutcomeCells

/**
 * The cells of one edge, for the worker that writes them. All positions are in the cells of the
 * whole table: an object for each part would be as many reads of memory that is not in the cache.
 */
export class EdgeCells {
  readonly #cells: Uint32Array
  readonly #at: number
  readonly #addOutcome: AddOutcome
  readonly #outcomes = new Map<number, OutcomeCells>()
  /** The outcome of the last call: most have the same. */
  #status = -1
  #pair = -1
  #outcome: OutcomeCells | undefined
  /** Of that outcome. */
  #countAt = 0
  #lastBucket = 0

  constructor(cells: Uint32Array, at: number, addOutcome: AddOutcome) {
    this.#cells = cells
    this.#at = at
    this.#addOutcome = addOutcome
  }

  begin(): void {
    const at = this.#at + edge.begun
    this.#cells[at] = this.#cells[at]! + 1
  }

  /** `milliseconds`: undefined for a call that is not measured. `pair`: of `pairOf`. */
  end(status: number, milliseconds: number | undefined, pair = noWorker): void {
    const cells = this.#cells
    const over = this.#at + edge.over
    cells[over] = cells[over]! + 1
    if (status !== this.#status || pair !== this.#pair) this.#select(status, pair)
    const countAt = this.#countAt
    cells[countAt] = cells[countAt]! + 1
    if (milliseconds !== undefined) this.#lastBucket = this.#outcome!.measure(milliseconds)
  }

  retried(): void {
    const at = this.#at + edge.retries
    this.#cells[at] = this.#cells[at]! + 1
  }

  /** No instance has taken the call that began. */
  withdraw(): void {
    const at = this.#at + edge.over
    this.#cells[at] = this.#cells[at]! + 1
  }

  #select(status: number, pair: number): void {
    const key = pair * 2 ** 32 + (status >>> 0)
    let found = this.#outcomes.get(key)
    if (found === undefined) {
      found = this.#addOutcome(status, pair, this.#lastBucket)
      this.#outcomes.set(key, found)
    }
    this.#status = status
    this.#pair = pair
    this.#outcome = found
    this.#countAt = found.at + outcome.count
  }
}

/**
 * The calls of one edge with the same status and the same workers. Several edges share one if there
 * are too many, so that nothing of the counts is kept here.
 */
export class OutcomeCells {
  /** The position in the cells of the table. */
  readonly at: number
  readonly #cells: Uint32Array
  /** The fraction that the sum's cell, in whole milliseconds, does not include. */
  #rest = 0

  constructor(table: Uint32Array, at: number) {
    this.at = at
    this.#cells = table.subarray(at)
  }

  /** Measures a call that was counted. Returns the bucket. */
  measure(milliseconds: number): number {
    const cells = this.#cells
    const bucket = bucketOf(Math.ceil(milliseconds * 1000))
    const weight = (cells[outcome.count]! - cells[outcome.accounted]!) >>> 0
    cells[outcome.accounted] = cells[outcome.count]!
    cells[outcomeHead + bucket] = cells[outcomeHead + bucket]! + weight
    cells[outcome.last] = bucket
    const sum = this.#rest + milliseconds * weight
    const whole = Math.floor(sum)
    this.#rest = sum - whole
    cells[outcome.sum] = cells[outcome.sum]! + whole
    return bucket
  }
}
