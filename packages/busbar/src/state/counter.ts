import { BusbarError } from '../contract/errors.ts'
import { CounterCells } from '../shared/state/counter-cells.ts'
import { placeOf } from './place.ts'

/** A total that threads count up together, each in a cell of its own. */
export class Counter {
  readonly name: string
  readonly #cells: CounterCells

  constructor(name: string) {
    const { membership, at } = placeOf('counter', name)
    this.name = name
    this.#cells = new CounterCells(membership.cells, at, membership.threads, membership.me)
  }

  /** `by` is a whole number, 0 or more; throws `SHARED_INVALID` for others. Some two nanoseconds, however many count. */
  add(by = 1): void {
    if (this.#cells.add(by)) return
    if (!Number.isSafeInteger(by) || by < 0) throw notCountable(this.name, by)
    this.#cells.addMuch(by)
  }

  /**
   * The total of all threads, those that have ended included; exact when nobody is counting, else one that was right at some
   * moment of the reading for each thread. Never less than what was read before.
   */
  get value(): number {
    return this.#cells.read()
  }
}

function notCountable(name: string, by: unknown): BusbarError {
  const message = `shared.counter(${JSON.stringify(name)}) was to count ${String(by)}`
  return new BusbarError('SHARED_INVALID', { message, hint: 'a counter counts whole numbers, and never down' })
}
