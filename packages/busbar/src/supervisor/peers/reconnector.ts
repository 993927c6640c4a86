import type { ErrorRecord } from '../../contract/errors.ts'
import { RestartPolicy } from '../restart-policy.ts'
import type { Timing } from '../timing.ts'

/** One of the two workers of a link. */
export interface LinkedWorker {
  readonly worker: number
  /** Its name in log lines. */
  readonly label: string
}

interface Pair {
  readonly workers: readonly [number, number]
  readonly policy: RestartPolicy
  /** When the pair was last reconnected, in milliseconds since 1970. 0 for its first link. */
  linkedAt: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Milliseconds before the first reconnect. When a worker dies, its peers mostly report their lost
 * links before the operating system reports the exit, and then there is nothing to reconnect.
 */
const settling = 100

/** Milliseconds. An attempt costs little, and without a link calls between the two workers fail. */
const longestWait = 2000

/**
 * Gives two workers that lost their link a new one: soon, then with the backoff of restarts,
 * without end. The cause may pass, such as a lack of file descriptors.
 */
export class Reconnector {
  readonly #timing: Timing
  readonly #log: (level: 'warn', line: string) => void
  /** The pairs that have lost a link. */
  readonly #pairs = new Map<string, Pair>()

  constructor(timing: Timing, log: (level: 'warn', line: string) => void) {
    this.#timing = timing
    this.#log = log
  }

  /** `reconnect` is called after the wait, unless one of the two workers has ended. */
  lost(one: LinkedWorker, other: LinkedWorker, { message }: ErrorRecord, reconnect: () => void): void {
    const pair = this.#pairOf(one.worker, other.worker)
    const wait = Math.max(pair.policy.failed(Date.now() - pair.linkedAt), settling)
    pair.timer = setTimeout(() => {
      pair.linkedAt = Date.now()
      this.#log('warn', `workers ${one.label} and ${other.label} lost their link and reconnect: ${message}`)
      reconnect()
    }, wait)
  }

  /** The worker has ended. */
  forget(worker: number): void {
    for (const [key, { workers, timer }] of this.#pairs)
      if (workers.includes(worker)) {
        clearTimeout(timer)
        this.#pairs.delete(key)
      }
  }

  #pairOf(one: number, other: number): Pair {
    const workers = [Math.min(one, other), Math.max(one, other)] as const
    const key = workers.join(' ')
    const known = this.#pairs.get(key)
    if (known !== undefined) return known
    const timing = { ...this.#timing, backoffMax: Math.min(this.#timing.backoffMax, longestWait) }
    const pair: Pair = { workers, policy: new RestartPolicy(timing), linkedAt: 0, timer: undefined }
    this.#pairs.set(key, pair)
    return pair
  }
}
