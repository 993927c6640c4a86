import type { App } from '../config/app.ts'
import { queueService } from '../contract/queues/queue-service.ts'
import type { PauseOrder } from '../shared/queues.ts'
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
  await Promise.all(owners.map((owner) => pauseOwner(owner, { kind: 'pause', limit })))
}

/**
 * The owner of a queue begins no further items, and goes on adding those that are enqueued.
 * Resolves when those that run have ended, after `limit` milliseconds at the latest.
 */
export async function pauseOwner(owner: WorkerHandle, order: PauseOrder): Promise<void> {
  const paused = owner.perform({ kind: 'queue', service: queueService, order }).catch(() => {})
  // A worker that is blocked answers nothing. What it runs is attempted again by the next owner.
  await settlesWithin(order.limit, [paused])
}
