/**
 * Limits how many calls each instance of a service answers at a time, across threads: an instance
 * has as many slots as its `concurrency`, and a caller takes one before it calls.
 *
 *     releases │ taken 0 │ taken 1 │ … │ abandoned 0 │ … │ due 0 │ … │
 *     row 0: slot 0 … slot n-1 │ row 1: slot 0 … │ … │
 *     row 0: link, number 0 … n-1 │ row 1: … │
 *
 * A slot holds the caller's row + 1, or 0 if it is free, so the slots of a worker that died can be
 * released; a plain counter could not tell whose they were. A caller that abandons a call cannot
 * know whether the instance has stopped working on it: it writes the time of that as a negative
 * number, and the instance frees the slot when its event loop turns. Until then the instance gets
 * no other call in this slot, and the supervisor sees for how long.
 *
 * Callers in processes do not see this memory. So the instance itself writes, before it starts a
 * call, the call's id and the earliest deadline (`due`) of its calls: while it is busy computing,
 * it may not write anything.
 *
 * `taken` and `abandoned` avoid scanning all slots. If a thread dies between two steps, `taken` may
 * be too low, never too high, and `abandoned` too high, never too low. Waiting callers sleep on
 * `releases`.
 */
import type { CallId } from './call-id.ts'

export interface ConcurrencyShape {
  readonly rows: number
  /** Per instance. */
  readonly concurrency: number
}

export function slotCells({ rows, concurrency }: ConcurrencyShape): number {
  return 1 + 3 * rows + 3 * rows * concurrency
}

/**
 * Times keep 31 bits of a millisecond clock (24 days), so that their complement is negative; only
 * differences matter.
 */
const latest = 0x7fff_ffff

/** A negative number, so it differs from every owner. */
function written(moment: number): number {
  return ~(moment & latest)
}

/**
 * Milliseconds from the written time to `now`; 0 if none was written. A time in the future appears
 * nearly 24 days ago.
 */
function since(value: number, now: number): number {
  return value < 0 ? (now - ~value) & latest : 0
}

const nobody = [0, 0] as const

/** Zero if the supervisor does not know the link. */
function writtenCall({ link, number }: CallId): readonly [link: number, number: number] {
  return link === undefined ? nobody : [(link + 1) & latest, number & latest]
}

export class ConcurrencySlots {
  readonly concurrency: number
  readonly #cells: Int32Array
  readonly #rows: number
  /** By row: where to look first for a free slot. */
  readonly #hints: number[]

  constructor(shape: ConcurrencyShape, cells: Int32Array) {
    this.concurrency = shape.concurrency
    this.#rows = shape.rows
    this.#hints = Array.from({ length: shape.rows }, () => 0)
    this.#cells = cells
  }

  /**
   * Takes a slot of the instance in `row` for the caller in `owner`; undefined if all are taken.
   */
  take(row: number, owner: number): number | undefined {
    const { concurrency } = this
    if (this.taken(row) >= concurrency) return undefined
    const first = this.#firstOf(row)
    const hint = this.#hints[row]!
    for (let step = 0; step < concurrency; step++) {
      const at = first + ((hint + step) % concurrency)
      if (Atomics.compareExchange(this.#cells, at, 0, owner + 1) !== 0) continue
      Atomics.add(this.#cells, this.#takenAt(row), 1)
      this.#hints[row] = at - first + 1
      return at
    }
    return undefined
  }

  /** Frees the slot and wakes one waiting caller. */
  release(slot: number): void {
    const row = this.#rowOf(slot)
    Atomics.sub(this.#cells, this.#takenAt(row), 1)
    Atomics.store(this.#cells, slot, 0)
    this.#hints[row] = slot - this.#firstOf(row)
    this.#tellReleased()
  }

  /**
   * Marks the call as abandoned by its caller, while the instance may still work on it. `now` is
   * `threadsNow()`.
   */
  abandon(slot: number, now: number): void {
    Atomics.add(this.#cells, this.#abandonedAt(this.#rowOf(slot)), 1)
    Atomics.store(this.#cells, slot, written(now))
  }

  /**
   * Frees abandoned slots. Only for the worker of `row`, once it knows of them, or before the row
   * gets another worker.
   */
  freeAbandoned(row: number): void {
    if (this.#abandoned(row) === 0) return
    for (const slot of this.#slotsOf(row)) {
      if (Atomics.load(this.#cells, slot) >= 0) continue
      this.release(slot)
      Atomics.sub(this.#cells, this.#abandonedAt(row), 1)
    }
  }

  /**
   * Only for the worker of `row`, or after it has ended. `at` is a `threadsNow()` time; undefined
   * if no call has a deadline.
   */
  setDue(row: number, at: number | undefined): void {
    Atomics.store(this.#cells, this.#dueAt(row), at === undefined ? 0 : written(at))
  }

  /** Only for the worker of `row`, or after it has ended. `slot`: 0 to concurrency - 1. */
  setInside(row: number, slot: number, call: CallId | undefined): void {
    const at = this.#insideOf(row) + 2 * slot
    const [link, number] = call === undefined ? nobody : writtenCall(call)
    // A concurrent reader sees parts of two calls, which match neither.
    Atomics.store(this.#cells, at, 0)
    Atomics.store(this.#cells, at + 1, number)
    Atomics.store(this.#cells, at, link)
  }

  /** Whether the instance in `row` has started the call and not finished it. */
  isInside(row: number, call: CallId): boolean {
    const first = this.#insideOf(row)
    const [link, number] = writtenCall(call)
    for (let at = first; at < first + 2 * this.concurrency; at += 2)
      if (Atomics.load(this.#cells, at) === link && Atomics.load(this.#cells, at + 1) === number) return link !== 0
    return false
  }

  /** The worker of `row` has ended: clears what it wrote. */
  forget(row: number): void {
    this.setDue(row, undefined)
    for (let slot = 0; slot < this.concurrency; slot++) this.setInside(row, slot, undefined)
  }

  /**
   * Milliseconds since the first call that the instance in `row` may still be working on was
   * abandoned or due; 0 if there is none.
   */
  overdue(row: number, now: number): number {
    return Math.max(this.#sinceAbandoned(row, now), this.#sinceDue(row, now))
  }

  /** The number of slots taken of the instance in `row`. */
  taken(row: number): number {
    return Atomics.load(this.#cells, this.#takenAt(row))
  }

  /** The worker of `owner` has ended: releases its slots. */
  releaseAllOf(owner: number): void {
    for (let row = 0; row < this.#rows; row++) {
      if (this.taken(row) === 0) continue
      for (const slot of this.#slotsOf(row)) if (Atomics.load(this.#cells, slot) === owner + 1) this.release(slot)
    }
  }

  /** Read it before {@link take} fails, so that no release in between is missed. */
  get releases(): number {
    return Atomics.load(this.#cells, 0)
  }

  /**
   * Resolves at the next release after `seen`, at the latest after `limit` milliseconds: a release
   * wakes one waiter, which may be in a blocked thread.
   */
  async released(seen: number, limit: number): Promise<void> {
    const { async: waits, value } = Atomics.waitAsync(this.#cells, 0, seen, limit)
    if (waits) await value
  }

  #sinceAbandoned(row: number, now: number): number {
    if (this.#abandoned(row) === 0) return 0
    return Math.max(...this.#slotsOf(row).map((slot) => since(Atomics.load(this.#cells, slot), now)))
  }

  #sinceDue(row: number, now: number): number {
    const due = since(Atomics.load(this.#cells, this.#dueAt(row)), now)
    return due > latest / 2 ? 0 : due
  }

  #abandoned(row: number): number {
    return Atomics.load(this.#cells, this.#abandonedAt(row))
  }

  #takenAt(row: number): number {
    return 1 + row
  }

  #abandonedAt(row: number): number {
    return 1 + this.#rows + row
  }

  #dueAt(row: number): number {
    return 1 + 2 * this.#rows + row
  }

  #slotsOf(row: number): number[] {
    const first = this.#firstOf(row)
    return Array.from({ length: this.concurrency }, (_, at) => first + at)
  }

  #firstOf(row: number): number {
    return 1 + 3 * this.#rows + row * this.concurrency
  }

  #insideOf(row: number): number {
    return this.#firstOf(this.#rows) + row * 2 * this.concurrency
  }

  #rowOf(slot: number): number {
    return Math.floor((slot - this.#firstOf(0)) / this.concurrency)
  }

  #tellReleased(): void {
    Atomics.add(this.#cells, 0, 1)
    Atomics.notify(this.#cells, 0, 1)
  }
}
