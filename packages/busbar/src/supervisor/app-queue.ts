import type { App } from '../config/app.ts'
import { queueService } from '../contract/queues/queue-service.ts'
import { settlesWithin } from '../shared/time/settles-within.ts'
import type { WorkerHandle } from './workers/worker-handle.ts'

export interface AppQueueParts {
  readonly app: () => App
  readonly workers: () => readonly WorkerHandle[]
}

/**
 * Called when the app begins to stop and its services still serve. The queue begins no further
 * items. Resolves when those that run have ended.
 */
export async function pauseQueue({ app, workers }: AppQueueParts): Promise<void> {
  const limit = app().stopTimeout
  const owners = workers().filter(
    ({ serving, spec }) => serving && spec.hosts.some(({ name }) => name === queueService),
  )
  const order = { kind: 'pause', limit } as const
  const paused = owners.map((worker) => worker.perform({ kind: 'queue', service: queueService, order }).catch(() => {}))
  // A worker that is blocked answers nothing. What it runs is attempted again at the next start.
  await settlesWithin(limit, [Promise.all(paused)])
}
