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
  timer: NodeJS.Timeout | undefined
}

/**
 * Milliseconds before the first new link of a pair: when a worker dies, its links mostly say so before the system does, and
 * then there is nobody to be linked with.
 */
const settling = 100

/**
 * When two workers that have lost their link get another: soon, then after waits that double, as a worker that died is
 * replaced, and not at all when that does not hold either.
 */
export class Relinks {
  readonly #timing: Timing
  readonly #say: (level: 'warn' | 'error', line: string) => void
  /** Those that have lost a link. */
  readonly #pairs = new Map<string, Pair>()

  constructor(timing: Timing, say: (level: 'warn' | 'error', line: string) => void) {
    this.#timing = timing
    this.#say = say
  }

  lost(one: End, other: End, { message }: ErrorRecord, relink: () => void): void {
    const pair = this.#pairOf(one.worker, other.worker)
    const names = `workers ${one.label} and ${other.label}`
    const wait = pair.policy.died(Date.now())
    if (wait === undefined)
      return this.#say('error', `${names} lose every link, and get no more until one of them is replaced: ${message}`)
    pair.timer = setTimeout(
      () => {
        this.#say('warn', `${names} have lost their link and get another: ${message}`)
        relink()
      },
      Math.max(wait, settling),
    )
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
    const pair: Pair = { workers, policy: new RestartPolicy(this.#timing, true), timer: undefined }
    this.#pairs.set(key, pair)
    return pair
  }
}
