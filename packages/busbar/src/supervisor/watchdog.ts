import { threadsNow } from '../shared/cells.ts'
import type { WorkerHandle } from './handle.ts'

/**
 * Ends workers whose event loop has not turned for longer than their patience. When this loop itself stood still
 * (SIGSTOP, a laptop asleep, a machine out of breath), the others did too and are given their time again.
 *
 * Returns what ends the watch.
 */
export function watch(workers: () => readonly WorkerHandle[], interval: number): () => void {
  let last = threadsNow()
  let forgiven = last
  const timer = setInterval(() => {
    const now = threadsNow()
    if (now - last > 3 * interval) forgiven = now
    last = now
    for (const worker of workers()) {
      const age = Math.min(worker.age(now), now - forgiven)
      if (worker.phase !== 'draining' && age > worker.patience) void worker.endStuck(age)
    }
  }, interval)
  return () => clearInterval(timer)
}
