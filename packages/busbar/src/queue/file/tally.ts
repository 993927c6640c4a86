import type { ItemCounts } from '../queue-meter.ts'

type Counts = { -readonly [State in keyof ItemCounts]: ItemCounts[State] }

interface Step {
  readonly target: string
  readonly state: keyof Counts
  readonly by: number
  readonly size: number
}

/** Counts the items of a file, so that no query has to. Follows its transactions. */
export class Tally {
  /** Waiting and running items. */
  depth = 0
  dead = 0
  /** Bytes of all items. */
  size = 0
  readonly #targets = new Map<string, Counts>()
  #steps: Step[] = []

  /** By `<service>.<method>`. */
  get targets(): ReadonlyMap<string, ItemCounts> {
    return this.#targets
  }

  add(step: Step): void {
    this.#apply(step, 1)
    this.#steps.push(step)
  }

  commit(): void {
    this.#steps = []
    for (const [target, { waiting, running, dead }] of this.#targets)
      if (waiting + running + dead === 0) this.#targets.delete(target)
  }

  rollback(): void {
    for (const step of this.#steps) this.#apply(step, -1)
    this.commit()
  }

  #apply({ target, state, by, size }: Step, sign: 1 | -1): void {
    const counts = this.#targets.get(target) ?? { waiting: 0, running: 0, dead: 0 }
    this.#targets.set(target, counts)
    counts[state] += sign * by
    this.size += sign * size
    if (state === 'dead') this.dead += sign * by
    else this.depth += sign * by
  }
}
