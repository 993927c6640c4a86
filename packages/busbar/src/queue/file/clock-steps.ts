import { uptime } from 'node:os'
import type { QueueStore } from './store.ts'

/** Milliseconds. A clock that is adjusted gradually makes no step. */
const leastStep = 1_000

interface Reading {
  /** The system's clock, which may be set. */
  readonly system: number
  readonly monotonic: number
  /** Goes on while the machine sleeps, which `monotonic` does not on Linux. */
  readonly uptime: number
}

/** Notices that the system's clock is set while the app runs: what waits follows it. */
export class ClockSteps {
  readonly #store: QueueStore
  #last = read(Date.now())

  constructor(store: QueueStore) {
    this.#store = store
  }

  /** A transaction of the store, by the clock that shows `now`. */
  transaction<T>(now: number, work: () => T): T {
    const reading = read(now)
    const passed = Math.max(reading.monotonic - this.#last.monotonic, reading.uptime - this.#last.uptime)
    const step = Math.round(now - this.#last.system - passed)
    const result = this.#store.transaction(() => {
      if (Math.abs(step) > leastStep) this.#store.follow(step, now)
      return work()
    })
    this.#last = reading
    return result
  }
}

function read(system: number): Reading {
  return { system, monotonic: performance.now(), uptime: uptime() * 1_000 }
}
