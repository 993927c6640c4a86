/** What the choice looks at. */
export interface Candidate {
  readonly connections: number
  age(now: number): number
}

let turn = 0

/**
 * The one with the fewest open connections, of those whose heartbeat is younger than `stale`; of all, when none is.
 * Equals take turns: short connections that are closed before the next comes would otherwise all go to the first.
 */
export function pickThread<T extends Candidate>(threads: readonly T[], now: number, stale: number): T | undefined {
  turn = (turn + 1) >>> 0
  return fewest(threads, (thread) => thread.age(now) < stale) ?? fewest(threads, () => true)
}

function fewest<T extends Candidate>(threads: readonly T[], eligible: (thread: T) => boolean): T | undefined {
  let best: T | undefined
  let least = Infinity
  for (let step = 0; step < threads.length; step++) {
    const thread = threads[(turn + step) % threads.length]!
    const { connections } = thread
    if (connections >= least || !eligible(thread)) continue
    best = thread
    least = connections
  }
  return best
}
