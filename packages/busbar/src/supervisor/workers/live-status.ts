import type { WorkerHandle } from './worker-handle.ts'
import type { WorkerStatus } from './worker-status.ts'

/** What a slot shows of the worker in it. */
export function statusOf(
  worker: WorkerHandle | undefined,
): Pick<WorkerStatus, 'pid' | 'row' | 'startedAt' | 'connections' | 'unhealthy'> {
  if (worker === undefined || worker.phase === 'ended')
    return { pid: undefined, row: undefined, startedAt: undefined, connections: 0, unhealthy: new Map() }
  const { pid, row, startedAt, connections, unhealthy } = worker
  return { pid, row, startedAt, connections, unhealthy }
}
