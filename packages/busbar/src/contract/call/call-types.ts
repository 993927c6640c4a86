import type { BusbarError, CallError, DeclaredErrors } from '../errors.ts'

export interface CallOptions {
  /**
   * Milliseconds until the call fails with DEADLINE_EXCEEDED. A call made within another one
   * inherits the shorter deadline.
   */
  readonly timeout?: number
  /** Cancels the call with CALL_ABORTED; the service's signal aborts too. */
  readonly signal?: AbortSignal
  /**
   * Order among calls that wait in the same worker for an instance of a service with a
   * `concurrency`: higher goes first. Default: 0. Not sent over HTTP, nor from a process.
   */
  readonly priority?: number
  /** Metadata for the service, sent beside the input; headers over HTTP. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** The errors that a method declares, by code, each with its data. */
export type DeclaredError<E extends DeclaredErrors> = {
  [Code in keyof E & string]: BusbarError<Code, E[Code]>
}[keyof E & string]

/** Everything that a call can fail with. */
export type ErrorOf<E extends DeclaredErrors> = DeclaredError<E> | CallError

/** A promise that rejects only with a BusbarError; {@link safe} infers its type. */
export interface CallPromise<T, E extends DeclaredErrors> extends Promise<T> {
  /** Type only; no such property exists. */
  readonly '~errors'?: readonly [E]
}

/** Starts at the first `next()`, applies backpressure, and is cancelled by leaving the loop. */
export interface CallStream<T, E extends DeclaredErrors> extends AsyncIterableIterator<T, undefined, undefined> {
  /** Type only; no such property exists. */
  readonly '~errors'?: readonly [E]
}
