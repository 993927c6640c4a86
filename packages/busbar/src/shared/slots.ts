/**
 * How many calls a service's instances answer at a time, held to across threads: an instance has as many slots as its
 * `concurrency`, and whoever would call it takes one first.
 *
 *     releases │ taken 0 │ taken 1 │ … │ given up 0 │ … │ due 0 │ … │ row 0: slot 0 … slot n-1 │ row 1: slot 0 … │ … │
 *     row 0: link, number 0 … n-1 │ row 1: … │
 *
 * A slot holds the row of the caller that has it + 1, or 0: so those of a worker that died can be given back, where a
 * counter could not tell which calls were whose. A caller that gives up cannot know whether the instance has stopped: it
 * writes when that was, as a negative number, and the instance frees the slot when its event loop turns. One that does
 * not is given no other call, and the supervisor sees for how long.
 *
 * Callers in processes see none of this. An instance writes by itself, before it begins with a call, which that is and when the
 * first of those it is busy with is `due`: once it computes it may write nothing more.
 *
 * `taken` and `given up` spare a look at every slot. When a thread dies between two steps, the first may be too low and
 * never too high, the second too high and never too low. `releases` is what waiting callers sleep on.
 */
import type { CallId } from './control.ts'

export interface SlotsShape {
  readonly rows: number
  /** Of one instance. */
  readonly concurrency: number
}

export function slotCells({ rows, concurrency }: SlotsShape): number {
  return 1 + 3 * rows + 3 * rows * concurrency
}

/** Of a clock in milliseconds 31 bits are kept (24 days), so that its complement is negative; only differences mean anything. */
const latest = 0x7fff_ffff

/** As a negative number, which no owner is. */
function written(moment: number): number {
  return ~(moment & latest)
}

/** Milliseconds from the moment that was written to `now`; 0 where none was. What is to come seems nearly a turn of the clock ago. */
function since(value: number, now: number): number {
  return value < 0 ? (now - ~value) & latest : 0
}

const nobody = [0, 0] as const

/** Zero where nobody but its two ends knows the link. */
function writtenCall({ link, number }: CallId): readonly [link: number, number: number] {
  return link === undefined ? nobody : [(link + 1) & latest, number & latest]
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
      Atomics.add(this.#cells, this.#takenAt(row), 1)
      this.#hints[row] = at - first + 1
      return at
    }
    return undefined
  }

  /** Wakes one of those who wait. */
  release(slot: number): void {
    const row = this.#rowOf(slot)
    Atomics.sub(this.#cells, this.#takenAt(row), 1)
    Atomics.store(this.#cells, slot, 0)
    this.#hints[row] = slot - this.#firstOf(row)
    this.#tellReleased()
  }

  /** Its call has ended for the caller, and maybe not for the instance. `now` is `threadsNow()`. */
  giveUp(slot: number, now: number): void {
    Atomics.add(this.#cells, this.#givenUpAt(this.#rowOf(slot)), 1)
    Atomics.store(this.#cells, slot, written(now))
  }

  /** Only for the worker of `row`, which has heard of it, or before there is another. */
  freeGivenUp(row: number): void {
    if (this.#givenUp(row) === 0) return
    for (const slot of this.#slotsOf(row)) {
      if (Atomics.load(this.#cells, slot) >= 0) continue
      this.release(slot)
      Atomics.sub(this.#cells, this.#givenUpAt(row), 1)
    }
  }

  /** Only for the worker of `row`, and when it is gone. `at`: of `threadsNow()`; undefined where no call has a deadline. */
  setDue(row: number, at: number | undefined): void {
    Atomics.store(this.#cells, this.#dueAt(row), at === undefined ? 0 : written(at))
  }

  /** Only for the worker of `row`, and when it is gone. `place`: from 0 to below the concurrency. */
  setInside(row: number, place: number, call: CallId | undefined): void {
    const at = this.#insideOf(row) + 2 * place
    const [link, number] = call === undefined ? nobody : writtenCall(call)
    // Whoever reads in between finds the half of two calls, which is none.
    Atomics.store(this.#cells, at, 0)
    Atomics.store(this.#cells, at + 1, number)
    Atomics.store(this.#cells, at, link)
  }

  /** Whether the instance in `row` has begun to answer the call and has not left it. */
  isInside(row: number, call: CallId): boolean {
    const first = this.#insideOf(row)
    const [link, number] = writtenCall(call)
    for (let at = first; at < first + 2 * this.concurrency; at += 2)
      if (Atomics.load(this.#cells, at) === link && Atomics.load(this.#cells, at + 1) === number) return link !== 0
    return false
  }

  /** The worker of `row` is gone, and with it all that it wrote. */
  forget(row: number): void {
    this.setDue(row, undefined)
    for (let place = 0; place < this.concurrency; place++) this.setInside(row, place, undefined)
  }

  /**
   * Milliseconds since the first of the calls was over with which the instance in `row` may be busy still: given up, or due. 0
   * without any.
   */
  overdue(row: number, now: number): number {
    return Math.max(this.#sinceGivenUp(row, now), this.#sinceDue(row, now))
  }

  /** Calls that the instance in `row` has been promised. */
  taken(row: number): number {
    return Atomics.load(this.#cells, this.#takenAt(row))
  }

  /** The worker of `owner` is gone: what it had taken is free. */
  releaseAllOf(owner: number): void {
    for (let row = 0; row < this.#rows; row++) {
      if (this.taken(row) === 0) continue
      for (const slot of this.#slotsOf(row)) if (Atomics.load(this.#cells, slot) === owner + 1) this.release(slot)
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

  #sinceGivenUp(row: number, now: number): number {
    if (this.#givenUp(row) === 0) return 0
    return Math.max(...this.#slotsOf(row).map((slot) => since(Atomics.load(this.#cells, slot), now)))
  }

  #sinceDue(row: number, now: number): number {
    const due = since(Atomics.load(this.#cells, this.#dueAt(row)), now)
    return due > latest / 2 ? 0 : due
  }

  #givenUp(row: number): number {
    return Atomics.load(this.#cells, this.#givenUpAt(row))
  }

  #takenAt(row: number): number {
    return 1 + row
  }

  #givenUpAt(row: number): number {
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
