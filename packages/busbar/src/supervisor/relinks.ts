import type { ErrorRecord } from '../contract/errors.ts'
import { RestartPolicy } from './restarts.ts'
import type { Timing } from './timing.ts'

/** One of a pair. */
export interface End {
  readonly worker: number
  /** As lines of the log call it. */
  readonly label: string
}

interface Pair {
  readonly workers: readonly [number, number]
  readonly policy: RestartPolicy
  /** When it got its last link, as {@link Relinks} knows; of `Date.now()`. Its first one counts as long ago. */
  linkedAt: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Milliseconds before the first new link of a pair: when a worker dies, its links mostly say so before the system does, and
 * then there is nobody to be linked with.
 */
const settling = 100

/** Milliseconds: an attempt costs little, and as long as there is no link calls between the two fail. */
const longestWait = 2000

/**
 * When two workers that have lost their link get another: soon, then with the backoff of a worker's restarts, for ever. A
 * link may break for reasons that pass, such as a lack of descriptors.
 */
export class Relinks {
  readonly #timing: Timing
  readonly #say: (level: 'warn', line: string) => void
  /** Those that have lost a link. */
  readonly #pairs = new Map<string, Pair>()

  constructor(timing: Timing, say: (level: 'warn', line: string) => void) {
    this.#timing = timing
    this.#say = say
  }

  lost(one: End, other: End, { message }: ErrorRecord, relink: () => void): void {
    const pair = this.#pairOf(one.worker, other.worker)
    const names = `workers ${one.label} and ${other.label}`
    const wait = Math.max(pair.policy.failed(Date.now() - pair.linkedAt), settling)
    pair.timer = setTimeout(() => {
      pair.linkedAt = Date.now()
      this.#say('warn', `${names} have lost their link and get another: ${message}`)
      relink()
    }, wait)
  }

  /** It has ended. */
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
