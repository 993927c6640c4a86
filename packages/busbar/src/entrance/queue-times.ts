import { queueTimeBounds } from '../shared/entrance/entrance.ts'
import type { EntranceChannel } from './load.ts'

/**
 * The cells: the first is another one's; then the number of requests up to each bound, of longer
 * ones, and the sum.
 */
const firstCell = 1
const sumCell = firstCell + queueTimeBounds.length + 1
/** Of the sum. */
const unitsPerMillisecond = 10

/** Counts how long each request of a worker has waited for its handler. The cells wrap around. */
export class QueueTimes {
  readonly #cells: Int32Array
  /** From this thread's clock to the entrance's, in milliseconds. */
  readonly #offset: number
  /** In units, with their fractions. */
  #sum = 0

  constructor(channel: EntranceChannel, cells: Int32Array) {
    this.#cells = cells
    this.#offset = offsetOf(channel)
  }

  /** `arrived`: microseconds of the entrance's clock. */
  count(arrived: number): void {
    const now = ((performance.now() + this.#offset) * 1000) >>> 0
    const waited = Math.max(0, (now - arrived) | 0) / 1000
    const found = queueTimeBounds.findIndex((bound) => waited <= bound)
    this.#cells[firstCell + (found === -1 ? queueTimeBounds.length : found)]! += 1
    this.#sum = (this.#sum + waited * unitsPerMillisecond) % 2 ** 32
    this.#cells[sumCell] = this.#sum
  }
}

/**
 * The difference of the clocks, by the quickest of several readings. A thread that is suspended
 * between the two readings would else count every wait as zero.
 */
function offsetOf(channel: EntranceChannel): number {
  let [best, offset] = [Infinity, 0]
  for (let reading = 0; reading < 8; reading++) {
    const before = performance.now()
    const there = channel.clock() / 1000
    const took = performance.now() - before
    if (took < best) [best, offset] = [took, there - before - took / 2]
  }
  return offset
}
