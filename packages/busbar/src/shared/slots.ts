/**
 * How many calls a service's instances answer at a time, held to across threads: an instance has as many slots as its
 * `concurrency`, and whoever would call it takes one first.
 *
 *     releases │ taken 0 │ taken 1 │ … │ row 0: slot 0 … slot n-1 │ row 1: slot 0 … │ …
 *
 * A slot holds the row of the caller that has it + 1, or 0: so those of a worker that died can be given back, where a
 * counter could not tell which calls were whose. `taken` spares a look at every slot; it may be too low, when a thread dies
 * between two steps, and never too high. `releases` is what waiting callers sleep on.
 */
export interface SlotsShape {
  readonly rows: number
  /** Of one instance. */
  readonly concurrency: number
}

export function slotCells({ rows, concurrency }: SlotsShape): number {
  return 1 + rows + rows * concurrency
}

export class Slots {
  readonly concurrency: number
  readonly #cells: Int32Array
  readonly #rows: number
  /** By row, where the next free slot may be. */
  readonly #hints: number[]

  constructor(shape: SlotsShape, cells: Int32Array) {
    this.concurrency = shape.concurrency
    this.#rows = shape.rows
    this.#hints = Array.from({ length: shape.rows }, () => 0)
    this.#cells = cells
  }

  /** A slot of the instance in `row`, for the caller in `owner`; undefined where all are taken. */
  take(row: number, owner: number): number | undefined {
    const { concurrency } = this
    if (this.taken(row) >= concurrency) return undefined
    const first = this.#firstOf(row)
    const hint = this.#hints[row]!
    for (let step = 0; step < concurrency; step++) {
      const at = first + ((hint + step) % concurrency)
      if (Atomics.compareExchange(this.#cells, at, 0, owner + 1) !== 0) continue
      Atomics.add(this.#cells, 1 + row, 1)
      this.#hints[row] = at - first + 1
      return at
    }
    return undefined
  }

  /** Wakes one of those who wait. */
  release(slot: number): void {
    const row = this.#rowOf(slot)
    Atomics.sub(this.#cells, 1 + row, 1)
    Atomics.store(this.#cells, slot, 0)
    this.#hints[row] = slot - this.#firstOf(row)
    this.#tellReleased()
  }

  /** Calls that the instance in `row` has been promised. */
  taken(row: number): number {
    return Atomics.load(this.#cells, 1 + row)
  }

  /** The worker of `owner` is gone: what it had taken is free. */
  releaseAllOf(owner: number): void {
    for (let row = 0; row < this.#rows; row++) {
      if (this.taken(row) === 0) continue
      const first = this.#firstOf(row)
      for (let slot = first; slot < first + this.concurrency; slot++)
        if (Atomics.load(this.#cells, slot) === owner + 1) this.release(slot)
    }
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

  #firstOf(row: number): number {
    return 1 + this.#rows + row * this.concurrency
  }

  #rowOf(slot: number): number {
    return Math.floor((slot - 1 - this.#rows) / this.concurrency)
  }

  #tellReleased(): void {
    Atomics.add(this.#cells, 0, 1)
    Atomics.notify(this.#cells, 0, 1)
  }
}
