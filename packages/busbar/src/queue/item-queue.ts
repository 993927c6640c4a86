import type { Metadata, Trace } from '../contract/context.ts'
import type { Enqueued } from '../contract/queues/enqueue.ts'
import type { QueueOrder } from '../shared/queues.ts'

/** Keeps items and runs them. `file/` has one for a single host, `streams/` one for a cluster. */
export interface ItemQueue {
  /** Resolves when the item is on disk. */
  add(item: ItemToAdd): Promise<Enqueued>
  /** Carries out what the admin API asks for. */
  order(order: QueueOrder): Promise<unknown>
  /**
   * Begins no further attempts, and waits at most `limit` milliseconds for those that run. What
   * still runs then is attempted again.
   */
  close(limit: number): Promise<void>
}

/** Who has enqueued an item, and by which contract. */
export interface ItemOrigin {
  readonly caller?: string | undefined
  readonly trace?: Trace | undefined
  readonly metadata?: Metadata | undefined
  /** The method's, as `contractOf` describes it. Undefined: any version of the method runs it. */
  readonly contract?: string | undefined
}

export interface ItemToAdd {
  /** `<service>.<method>`. */
  readonly target: string
  readonly id: string
  /** Another item with this id is a duplicate until then. Undefined: nothing is compared. */
  readonly until: number | undefined
  /** Is compared instead of the id, so that what is added again by mistake is added once. */
  readonly key?: string | undefined
  readonly due: number
  readonly added: number
  readonly input: string | undefined
  readonly origin: ItemOrigin
}

/** An item at one of its attempts, which begin with 1. */
export interface ItemAttempt {
  readonly target: string
  readonly id: string
  readonly attempt: number
  readonly added: number
  readonly input: string | null
  readonly origin: ItemOrigin
}

/** Why an attempt has failed. */
export interface Reason {
  readonly code: string
  readonly message: string
}

/** Neither part has a dot. */
export function splitTarget(target: string): [service: string, method: string] {
  const dot = target.indexOf('.')
  return [target.slice(0, dot), target.slice(dot + 1)]
}
