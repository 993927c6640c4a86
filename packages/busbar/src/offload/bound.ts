import { joinShared } from '../shared/state/membership.ts'

/** Whether a pool may have another thread. */
export interface Bound {
  mayGrow(): boolean
  started(): void
  ended(): void
}

export const unbounded: Bound = { mayGrow: () => true, started: () => {}, ended: () => {} }

/**
 * Every thread that calls `offload` has a pool, since another one's would cost two hops instead of one and share its
 * stalls. What they have together is counted in shared memory, in a cell of each: `size` in all, but one for each in any case.
 * Where there is no shared memory, each pool stands alone.
 */
export function boundedTogether(size: number): Bound {
  const joined = joinShared()
  if (joined.state !== 'joined') return unbounded
  const { threads, me } = joined.membership
  return {
    mayGrow: () => threads.pooledOf(me) === 0 || threads.pooled < size,
    started: () => threads.addPooled(me, 1),
    ended: () => threads.addPooled(me, -1),
  }
}
