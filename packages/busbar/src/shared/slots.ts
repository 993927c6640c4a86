/**
 * How many calls a service's instances answer at a time, held to across threads: an instance has as many slots as its
 * `concurrency`, and whoever would call it takes one first.
 *
 *     releases │ row 0: slot 0 … slot n-1 │ row 1: slot 0 … │ …          a slot: 0, or the row of the caller that has it + 1
 *
 * A slot says who has it, so that those of a worker that died can be given back; a counter could not tell which of its
 * calls were whose. `releases` is what waiting callers sleep on.
 */
export interface SlotsShape {
  readonly rows: number
  /** Of one instance. */
  readonly concurrency: number
}

export function slotCells({ rows, concurrency }: SlotsShape): number {
  return 1 + rows * concurrency
}

export class Slots {
  readonly concurrency: number
  readonly #cells: Int32Array
  readonly #rows: number

  constructor(shape: SlotsShape, cells: Int32Array) {
    this.concurrency = shape.concurrency
    this.#rows = shape.rows
    this.#cells = cells
  }

  /** A slot of the instance in `row`, for the caller in `owner`; undefined where all are taken. */
  take(row: number, owner: number): number | undefined {
    const first = 1 + row * this.concurrency
    for (let at = first; at < first + this.concurrency; at++)
      if (Atomics.compareExchange(this.#cells, at, 0, owner + 1) === 0) return at
    return undefined
  }

  /** Wakes one of those who wait. */
  release(slot: number): void {
    Atomics.store(this.#cells, slot, 0)
    this.#tellReleased()
  }

  /** Calls that the instance in `row` has been promised. */
  taken(row: number): number {
    let taken = 0
    const first = 1 + row * this.concurrency
    for (let at = first; at < first + this.concurrency; at++) if (this.#cells[at] !== 0) taken++
    return taken
  }

  /** The worker of `owner` is gone: what it had taken is free. */
  releaseAllOf(owner: number): void {
    for (let at = 1; at < 1 + this.#rows * this.concurrency; at++)
      if (Atomics.compareExchange(this.#cells, at, owner + 1, 0) === owner + 1) this.#tellReleased()
  }

  /** To be read before {@link take} fails, so that no release in between is slept through. */
  get releases(): number {
    return Atomics.load(this.#cells, 0)
  }

  /**
   * Resolves at the next release after `seen`, at the latest after `limit` milliseconds: a release wakes one sleeper, and
   * that may be in a thread that is blocked.
   */
  async released(seen: number, limit: number): Promise<void> {
    const { async: waits, value } = Atomics.waitAsync(this.#cells, 0, seen, limit)
    if (waits) await value
  }

  #tellReleased(): void {
    Atomics.add(this.#cells, 0, 1)
    Atomics.notify(this.#cells, 0, 1)
  }
}
