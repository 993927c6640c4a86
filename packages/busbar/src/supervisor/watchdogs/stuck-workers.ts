import { threadsNow } from '../../shared/metrics/worker-cells.ts'
import type { WorkerHandle } from '../workers/worker-handle.ts'

/**
 * Ends workers whose heartbeat is older than their limit. If this thread itself was suspended
 * (SIGSTOP, a laptop asleep, an overloaded machine), the workers were too, and their time starts
 * anew. Returns a function that ends the watch.
 */
export function watchStuckWorkers(workers: () => readonly WorkerHandle[], interval: number): () => void {
  let last = threadsNow()
  let resumedAt = last
  const timer = setInterval(() => {
    const now = threadsNow()
    if (now - last > 3 * interval) resumedAt = now
    last = now
    for (const worker of workers()) {
      const age = Math.min(worker.age(now), now - resumedAt)
      if (worker.phase !== 'draining' && age > worker.heartbeatLimit) void worker.endStuck(age)
    }
  }, interval)
  return () => clearInterval(timer)
}
