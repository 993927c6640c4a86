import { type LatencyTable, outside } from '../shared/latency-table.ts'

/** Calls measured per second, at most; with fewer, every one is. Two looks at the clock and a `then` cost 0.3 µs. */
const measuredPerSecond = 2000

/**
 * How long the calls of this worker take. With many calls only some are looked at, each of which stands for as many as
 * were passed over, on average: the more there are, the less it matters which.
 */
export class Meter {
  readonly #latencies: LatencyTable
  /** One call of so many is measured. */
  #interval = 1
  /** Until the next that is. */
  #left = 1
  #measured = 0
  #calls = 0

  constructor(latencies: LatencyTable) {
    this.#latencies = latencies
  }

  /** Asked before each call: for how many calls this one stands if it is measured, 0 if it is not to be. */
  next(): number {
    if (--this.#left > 0) return 0
    const weight = this.#interval
    this.#calls += weight
    // A flood does not wait until the second is over.
    if (++this.#measured % measuredPerSecond === 0) this.#interval *= 2
    // At random, since programs call in patterns: each fourth call may always be the same one's.
    this.#left = this.#interval === 1 ? 1 : 1 + Math.floor(Math.random() * (2 * this.#interval - 1))
    return weight
  }

  /** `caller`: a service; undefined for what comes from outside. */
  add(caller: string | undefined, callee: string, milliseconds: number, weight: number): void {
    this.#latencies.of(caller ?? outside, callee).add(milliseconds, weight)
  }

  /** Once a second: as many calls as the last one had are expected of the next. */
  renew(): void {
    this.#interval = 2 ** Math.max(0, Math.ceil(Math.log2(this.#calls / measuredPerSecond)))
    this.#left = Math.min(this.#left, this.#interval)
    this.#measured = this.#calls = 0
  }
}

/** A call that is measured, from where it is made to its answer, however that ends. */
export class MeasuredCall {
  readonly #meter: Meter
  readonly #caller: string | undefined
  readonly #callee: string
  readonly #weight: number
  readonly #began = performance.now()

  constructor(meter: Meter, caller: string | undefined, callee: string, weight: number) {
    this.#meter = meter
    this.#caller = caller
    this.#callee = callee
    this.#weight = weight
  }

  readonly end = (): void => {
    this.#meter.add(this.#caller, this.#callee, performance.now() - this.#began, this.#weight)
  }
}
