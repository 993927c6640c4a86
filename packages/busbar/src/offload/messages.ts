/** The messages between a pool and its threads. A thread runs one task at a time. */
import type { MessagePort } from 'node:worker_threads'
import type { Trace } from '../contract/context.ts'
import type { TaskErrorRecord } from './task-error.ts'

/** The `workerData` of a thread. */
export interface ThreadInit {
  /** A private port: `parentPort` belongs to the task's code. */
  readonly port: MessagePort
  /** See {@link flag}. */
  readonly flags: Int32Array
}

/** Shared cells that the pool writes, because a busy task reads no messages. */
export const flag = {
  /** The id of the task that should stop. */
  cancelled: 0,
  /** The reason, as an index of {@link cancelReasons}. */
  reason: 1,
} as const

export const cancelReasons = ['timeout', 'aborted'] as const
export type CancelReason = (typeof cancelReasons)[number]

export type ToThread =
  | {
      readonly type: 'run'
      readonly id: number
      readonly module: string
      readonly input: unknown
      /** Of the caller. The calls of the task continue it. */
      readonly trace: Trace | undefined
    }
  /** The flags contain the same; this message wakes a task that is waiting. */
  | { readonly type: 'cancel'; readonly id: number }

export type FromThread =
  | { readonly type: 'ready' }
  | { readonly type: 'returned'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: TaskErrorRecord }
