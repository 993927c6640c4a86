export interface SlowStartSpec {
  /** Milliseconds. */
  readonly window: number
  /** The share at the end of the window, from 0 to 1. */
  readonly most: number
}

/**
 * The growing share of calls and connections that something gets which has just started and takes
 * the place of another. Its code is compiled while it runs: the first calls take ten times as long
 * as later ones, and would pile up if they were all calls.
 */
export class SlowStart {
  readonly #spec: SlowStartSpec
  readonly #began = performance.now()

  constructor(spec: SlowStartSpec) {
    this.#spec = spec
  }

  /** From now on it gets as much as the others. */
  get isOver(): boolean {
    return performance.now() - this.#began >= this.#spec.window
  }

  /** Of what it and the one whose place it takes get together. From 0 to 1. */
  get share(): number {
    const { window, most } = this.#spec
    return (most * (performance.now() - this.#began)) / window
  }
}

interface Started {
  /** Undefined: it has been running for long. */
  readonly slowStart?: SlowStart | undefined
}

/**
 * The candidates for one call: of something that starts slowly and the one whose place it takes,
 * one is left out. All, if `canServe` is true for none of the others.
 */
export function admitted<T extends Started>(
  all: readonly T[],
  placeOf: (one: T) => number,
  canServe: (one: T) => boolean,
): readonly T[] {
  const starting = all.filter((one) => one.slowStart?.isOver === false && canServe(one))
  if (starting.length === 0) return all
  const at = Math.random()
  const leftOut = new Set<T>()
  for (const young of starting)
    if (at >= young.slowStart!.share) leftOut.add(young)
    else for (const one of all) if (one !== young && placeOf(one) === placeOf(young)) leftOut.add(one)
  const some = all.filter((one) => !leftOut.has(one))
  return some.some(canServe) ? some : all
}
