/** What the admin API asks of one worker. A task runs beside the calls of its services. */

import type { QueueOrder } from './queues.ts'

export type WorkerTask =
  /**
   * Calls a method of a typed service, as a client from outside does. Results in a {@link
   * CallResult}.
   */
  | {
      readonly kind: 'call'
      readonly service: string
      readonly method: string
      /** As JSON may hold it. */
      readonly input: unknown
      /** Milliseconds. */
      readonly timeout: number
      /** Values of a stream that are collected. */
      readonly maxValues: number
    }
  /**
   * Runs the handlers that the service's code has for the signal. Results in whether there are any.
   */
  | { readonly kind: 'signal'; readonly service: string; readonly signal: NodeJS.Signals }
  /** Runs code as the service's own. Results in an {@link EvaluationResult}. */
  | { readonly kind: 'evaluate'; readonly service: string; readonly code: string; readonly colors: boolean }
  /** Asks the owner of the app's queue. */
  | { readonly kind: 'queue'; readonly service: string; readonly order: QueueOrder }
  | { readonly kind: 'heapSnapshot'; readonly file: string }
  | {
      readonly kind: 'profile'
      readonly of: 'cpu' | 'heap'
      /** Milliseconds. */
      readonly duration: number
      readonly file: string
    }

/** `text`: for people. `isIncomplete`: more lines may make it valid code. */
export interface EvaluationResult {
  readonly ok: boolean
  readonly text: string
  readonly isIncomplete: boolean
}

/** A result as JSON may hold it. */
export type CallResult =
  /** The method's own errors, and Busbar's. */
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      readonly status: number
      readonly data: unknown
    }
  | { readonly kind: 'fn'; readonly result: unknown }
  /** `ended`: false if the stream has more values than were asked for. */
  | { readonly kind: 'stream'; readonly values: readonly unknown[]; readonly ended: boolean }
