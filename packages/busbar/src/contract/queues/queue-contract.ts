import type { Metadata } from '../context.ts'
import { fn } from '../method.ts'
import { contractOf } from '../method-contract.ts'
import { type } from '../schema.ts'
import { service } from '../service.ts'
import type { AddItem, Enqueued, NewItem } from './enqueue.ts'
import { queueService } from './queue-service.ts'

/**
 * The contract of the service that owns the queue: how items get from any thread of the app into
 * it. Most workers and the supervisor need only its name (`queue-service.ts`).
 */
export const queueContract = service(queueService, { add: fn({ input: type<ItemRecord>(), output: type<Enqueued>() }) })

/** A {@link NewItem} as every transport carries it, JSON too. */
export interface ItemRecord {
  readonly service: string
  readonly method: string
  readonly id?: string
  readonly delay: number
  readonly input?: string
  readonly metadata?: Metadata
  /** As `contractOf` describes that of the enqueuer. None: it fits any. */
  readonly contract?: string
}

/** Adds items by `call`, which calls {@link queueContract}. */
export function addBy(call: (item: ItemRecord) => Promise<Enqueued>): AddItem {
  return (item: NewItem) => {
    const { service: to, method, delay, id, input, metadata, spec } = item
    const contract = contractOf(spec)
    const optional = {
      ...(id !== undefined && { id }),
      ...(input !== undefined && { input }),
      ...(metadata !== undefined && { metadata }),
      ...(contract !== undefined && { contract }),
    }
    return call({ service: to, method, delay, ...optional })
  }
}
