import { threadsNow } from '../shared/cells.ts'
import type { WorkerThread } from './thread.ts'

/**
 * Ends threads whose event loop has not turned for longer than their patience. When this loop itself stood still
 * (SIGSTOP, a laptop asleep, a machine out of breath), the others did too and are given their time again.
 *
 * Returns what ends the watch.
 */
export function watch(threads: () => readonly WorkerThread[], interval: number): () => void {
  let last = threadsNow()
  let forgiven = last
  const timer = setInterval(() => {
    const now = threadsNow()
    if (now - last > 3 * interval) forgiven = now
    last = now
    for (const thread of threads()) {
      const age = Math.min(thread.age(now), now - forgiven)
      if (thread.phase !== 'draining' && age > thread.patience) void thread.endStuck(age)
    }
  }, interval)
  return () => clearInterval(timer)
}
