/** What a pool and its threads say to each other. A thread has one task at a time. */
import type { MessagePort } from 'node:worker_threads'
import type { TaskErrorRecord } from './task-error.ts'

/** What a thread is born with (`workerData`). */
export interface ThreadInit {
  /** Its own, which no task sees: a task's module may do as it likes with `parentPort`. */
  readonly port: MessagePort
  /** See {@link flag}. */
  readonly flags: Int32Array
}

/** Cells that the pool writes: a task that computes reads no messages. */
export const flag = {
  /** The id of the task that should stop. */
  cancelled: 0,
  /** Why, as an index of {@link cancelReasons}. */
  reason: 1,
} as const

export const cancelReasons = ['timeout', 'aborted'] as const
export type CancelReason = (typeof cancelReasons)[number]

export type ToThread =
  | { readonly type: 'run'; readonly id: number; readonly module: string; readonly input: unknown }
  /** The flags say it too; this wakes a task that awaits something. */
  | { readonly type: 'cancel'; readonly id: number }

export type FromThread =
  | { readonly type: 'ready' }
  | { readonly type: 'returned'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: TaskErrorRecord }
