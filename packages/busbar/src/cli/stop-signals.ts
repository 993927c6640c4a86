import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export type StopSignal = (typeof signals)[number]

/**
 * Milliseconds. npm, shells and terminals deliver one Ctrl-C to all processes of a group, which
 * also forward it to each other. Signals within this time after the first are the same request.
 */
const sameRequest = 250

/** Distinguishes the first stop signal from a second one, which asks for an immediate end. */
export class StopRequests {
  #first: number | undefined

  /** `now`: milliseconds of a monotonic clock. */
  add(now: number): 'stop' | 'same' | 'force' {
    if (this.#first === undefined) {
      this.#first = now
      return 'stop'
    }
    return now - this.#first < sameRequest ? 'same' : 'force'
  }
}

/**
 * Calls `stop` at the first signal; a second one ends the process. Returns a function that removes
 * the handlers.
 */
export function onStopSignal(stop: (signal: StopSignal) => void): () => void {
  const requests = new StopRequests()
  const receive = (signal: StopSignal): void => {
    const request = requests.add(performance.now())
    if (request === 'stop') stop(signal)
    if (request === 'force') process.exit(128 + constants.signals[signal])
  }
  for (const signal of signals) process.on(signal, receive)
  return () => {
    for (const signal of signals) process.off(signal, receive)
  }
}
