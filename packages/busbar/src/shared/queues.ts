/** The queue of an app, as its config sets it and as the admin API shows it. */
import type { ClusterConfig } from './hosts.ts'

/** Where items are kept. */
export type QueuePlace =
  /** `path` is absolute. */
  | { readonly is: 'file'; readonly path: string }
  /** JetStream. */
  | {
      readonly is: 'streams'
      readonly cluster: ClusterConfig
      /** Those of this app, whose items it runs. */
      readonly services: readonly string[]
      /** Absolute path of the file that has items from before the app was in a cluster. */
      readonly left: string
    }

export interface QueueSettings {
  readonly place: QueuePlace
  /** How long the id of an item keeps further ones from being added. */
  readonly window: number
  /** Items that wait or run. */
  readonly maxDepth: number
  /** Bytes of all items. */
  readonly maxSize: number
  /** Dead letters. Beyond that, the oldest are deleted. */
  readonly keepDead: number
  /** For methods that are not in `methods`. */
  readonly usual: MethodQueueSettings
  /** By `<service>.<method>`. */
  readonly methods: Readonly<Record<string, MethodQueueSettings>>
}

export interface MethodQueueSettings {
  /** Failed attempts after which an item is a dead letter. */
  readonly attempts: number
  /** Milliseconds before the second attempt. Each further one waits twice as long. */
  readonly backoff: number
  readonly maxBackoff: number
  /** Milliseconds of one attempt. */
  readonly timeout: number
  /** Items of the method that run at a time, in the whole app. */
  readonly concurrency: number
}

/** The items of one method. */
export interface QueueCounts {
  readonly service: string
  readonly method: string
  readonly waiting: number
  readonly running: number
  readonly dead: number
}

/** An item that is not attempted any more. */
export interface DeadLetter {
  /** Identifies it in this file. */
  readonly number: number
  readonly id: string
  readonly service: string
  readonly method: string
  /** How many attempts it had. */
  readonly attempts: number
  /** Milliseconds since 1970. */
  readonly enqueuedAt: number
  readonly diedAt: number
  /** Why. */
  readonly code: string
  readonly message: string
  /** JSON with tags; null without an input. */
  readonly input: string | null
}

/** What the admin API asks of the owner of the queue. */
export type QueueOrder =
  /** `isCheck`: fails if no items can be added. */
  | { readonly kind: 'list'; readonly limit: number; readonly isCheck: boolean }
  /** `number` null: all dead letters. Results in a {@link QueueChange}. */
  | { readonly kind: 'retry' | 'drop'; readonly number: number | null }
  | PauseOrder

/** No attempt begins any more. Ends when none runs, or after `limit` milliseconds. */
export interface PauseOrder {
  readonly kind: 'pause'
  readonly limit: number
  /** The next owner of the file waits, and attempts what still runs then. */
  readonly handsOver?: boolean
}

/** What has become of dead letters. */
export interface QueueChange {
  /** How many were put back, or deleted. */
  readonly count: number
  /** How many could not be put back. */
  readonly left: number
  /** Why, for the first of these. */
  readonly reasons: readonly { readonly number: number; readonly message: string }[]
}

export interface QueueList {
  readonly queues: readonly QueueCounts[]
  /** The latest first. */
  readonly dead: readonly DeadLetter[]
}
