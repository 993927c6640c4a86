let turn = 0

/**
 * The candidate with the least load of all, which is affordable since there are few (power of all choices). Equals take
 * turns: many a service answers so fast that every instance is idle whenever one is asked for.
 * `loadOf` answers Infinity for one that is not to be chosen.
 */
export function leastLoaded<T>(candidates: readonly T[], loadOf: (candidate: T) => number): T | undefined {
  turn = (turn + 1) >>> 0
  const count = candidates.length
  const first = turn % count
  let best: T | undefined
  let least = Infinity
  for (let step = 0; step < count; step++) {
    const candidate = candidates[first + step < count ? first + step : first + step - count]!
    const load = loadOf(candidate)
    if (load >= least) continue
    best = candidate
    least = load
  }
  return best
}
