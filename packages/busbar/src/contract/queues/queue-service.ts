import { BusbarError } from '../errors.ts'
import { serviceUnknown } from '../host/unknown-names.ts'
import type { NewItem } from './enqueue.ts'

/** The name of the service that owns the queue of an app. */
export const queueService = 'busbar-queue'

/**
 * Throws unless the app has a queue and the service. `names`: what it can call. `remotes`: those of
 * them that belong to other apps.
 */
export function checkQueue(
  { service, method }: Pick<NewItem, 'service' | 'method'>,
  names: readonly string[],
  remotes: readonly { readonly name: string; readonly inCluster?: boolean }[] = [],
): void {
  const refuse = (why: string, hint: string): never => {
    const message = `${service}.${method} cannot be enqueued: ${why}`
    throw new BusbarError('QUEUE_UNAVAILABLE', { message, hint, service })
  }
  if (!names.includes(queueService)) refuse('this app has no queue', 'Add queues: {} to its config.')
  if (!names.includes(service))
    throw serviceUnknown(
      service,
      names.filter((name) => name !== queueService),
    )
  if (remotes.some(({ name, inCluster }) => name === service && inCluster !== true))
    refuse(`'${service}' belongs to another app`, 'Call it in a method of this app, and enqueue that.')
}
