import type { Metadata } from '../context.ts'
import { BusbarError } from '../errors.ts'
import { serviceUnknown } from '../host/unknown-names.ts'
import { fn } from '../method.ts'
import { type } from '../schema.ts'
import { service } from '../service.ts'
import type { AddItem, Enqueued, NewItem } from './enqueue.ts'

/** The name of the service that owns the queue of an app. */
export const queueService = 'busbar-queue'

/** Its contract: how items get from any thread of the app into the queue. */
export const queueContract = service(queueService, { add: fn({ input: type<ItemRecord>(), output: type<Enqueued>() }) })

/** A {@link NewItem} as every transport carries it, JSON too. */
export interface ItemRecord {
  readonly service: string
  readonly method: string
  readonly id?: string
  readonly delay: number
  readonly input?: string
  readonly metadata?: Metadata
}

/** Adds items by `call`, which calls {@link queueContract}. */
export function addBy(call: (item: ItemRecord) => Promise<Enqueued>): AddItem {
  return (item: NewItem) => {
    const { service: to, method, delay, id, input, metadata } = item
    const optional = {
      ...(id !== undefined && { id }),
      ...(input !== undefined && { input }),
      ...(metadata !== undefined && { metadata }),
    }
    return call({ service: to, method, delay, ...optional })
  }
}

/**
 * Throws unless the app has a queue and the service. `names`: what it can call. `remotes`: those of
 * them that belong to other apps.
 */
export function checkQueue(
  { service, method }: Pick<NewItem, 'service' | 'method'>,
  names: readonly string[],
  remotes: readonly { readonly name: string }[] = [],
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
  if (remotes.some(({ name }) => name === service))
    refuse(`'${service}' belongs to another app`, 'Call it in a method of this app, and enqueue that.')
}
