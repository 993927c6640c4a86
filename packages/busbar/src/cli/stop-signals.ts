import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export type StopSignal = (typeof signals)[number]

/**
 * npm, shells and terminals deliver one Ctrl-C to several processes of a group and forward it to each other as well:
 * signals that come within this span of the first are the same wish.
 */
const sameWish = 250

/** Tells a first wish to stop from a second one, which does not want to wait. */
export class StopWishes {
  #first: number | undefined

  /** `now`: milliseconds of a clock that never goes back. */
  hear(now: number): 'stop' | 'same' | 'force' {
    if (this.#first === undefined) {
      this.#first = now
      return 'stop'
    }
    return now - this.#first < sameWish ? 'same' : 'force'
  }
}

/** Calls `stop` at the first signal; a second one ends the process at once. Returns what takes the handlers away. */
export function onStopSignal(stop: (signal: StopSignal) => void): () => void {
  const wishes = new StopWishes()
  const hear = (signal: StopSignal): void => {
    const wish = wishes.hear(performance.now())
    if (wish === 'stop') stop(signal)
    if (wish === 'force') process.exit(128 + constants.signals[signal])
  }
  for (const signal of signals) process.on(signal, hear)
  return () => {
    for (const signal of signals) process.off(signal, hear)
  }
}
