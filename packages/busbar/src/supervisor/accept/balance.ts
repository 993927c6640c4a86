import { admitted, type SlowStart } from '../../shared/slow-start.ts'

export interface Candidate {
  readonly connections: number
  /** Milliseconds since its last heartbeat. */
  age(now: number): number
  /** Its slot. */
  readonly spec: { readonly index: number }
  /** Set if it serves beside the worker that it replaces. */
  readonly slowStart?: SlowStart | undefined
}

let turn = 0

/**
 * The worker with the fewest open connections, among those whose heartbeat is younger than `stale`
 * milliseconds, or among all if there is none. Of a successor that starts slowly and the worker
 * that it replaces, one is left out. Ties are broken in turns: short connections, each closed
 * before the next one comes, would otherwise all go to the first worker.
 */
export function pickWorker<T extends Candidate>(workers: readonly T[], now: number, stale: number): T | undefined {
  turn = (turn + 1) >>> 0
  const isFresh = (worker: T): boolean => worker.age(now) < stale
  return (
    fewest(
      admitted(workers, ({ spec }) => spec.index, isFresh),
      isFresh,
    ) ?? fewest(workers, () => true)
  )
}

function fewest<T extends Candidate>(workers: readonly T[], eligible: (worker: T) => boolean): T | undefined {
  let best: T | undefined
  let least = Infinity
  for (let step = 0; step < workers.length; step++) {
    const worker = workers[(turn + step) % workers.length]!
    const { connections } = worker
    if (connections >= least || !eligible(worker)) continue
    best = worker
    least = connections
  }
  return best
}
