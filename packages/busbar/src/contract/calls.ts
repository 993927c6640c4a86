import type { BusbarError, CallError, DeclaredErrors } from './errors.ts'

export interface CallOptions {
  /** Milliseconds until the call fails with DEADLINE_EXCEEDED. A call that causes it may have less left. */
  readonly timeout?: number
  /** Ends the call with CALL_ABORTED, and the service is told. */
  readonly signal?: AbortSignal
  /**
   * Where the call waits for an instance of a service that has a `concurrency`, it is let in before those of a lower one
   * that wait in the same worker; 0 without it. It does not go along over HTTP, or from a process.
   */
  readonly priority?: number
  /** Words for the service beside the input: headers where it goes over HTTP. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** Declared errors by their code, each with its data. */
export type DeclaredError<E extends DeclaredErrors> = {
  [Code in keyof E & string]: BusbarError<Code, E[Code]>
}[keyof E & string]

/** All that a call can fail with. */
export type ErrorOf<E extends DeclaredErrors> = DeclaredError<E> | CallError

/** Rejects with a BusbarError only, whose type {@link safe} knows. */
export interface CallPromise<T, E extends DeclaredErrors> extends Promise<T> {
  /** Only types: there is no such property. */
  readonly '~errors'?: readonly [E]
}

/** Begins with the first `next()`, waits for its reader, and is cancelled by leaving the loop. */
export interface CallStream<T, E extends DeclaredErrors> extends AsyncIterableIterator<T, undefined, undefined> {
  /** Only types: there is no such property. */
  readonly '~errors'?: readonly [E]
}
