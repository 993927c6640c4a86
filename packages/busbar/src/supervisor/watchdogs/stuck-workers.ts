import { threadsNow } from '../../shared/metrics/worker-cells.ts'
import type { SlotTable } from '../generations/slot-table.ts'
import type { Pulse } from '../pulse.ts'
import type { Timing } from '../timing.ts'

/**
 * Ends workers whose heartbeat is older than their limit. If this thread itself was suspended
 * (SIGSTOP, a laptop asleep, an overloaded machine), the workers were too, and their time starts
 * anew. Returns a function that ends the watch.
 */
export function watchStuckWorkers(
  slots: Pick<SlotTable, 'workers'>,
  pulse: Pulse,
  { watch }: Pick<Timing, 'watch'>,
): () => void {
  let last = threadsNow()
  let resumedAt = last
  return pulse.every(watch, () => {
    const now = threadsNow()
    if (now - last > 3 * watch) resumedAt = now
    last = now
    for (const worker of slots.workers) {
      const age = Math.min(worker.age(now), now - resumedAt)
      if (worker.phase !== 'draining' && age > worker.heartbeatLimit) void worker.endStuck(age)
    }
  })
}
