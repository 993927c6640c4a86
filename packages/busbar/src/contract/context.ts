import type { DeclaredErrors } from './errors.ts'

export type Metadata = Readonly<Record<string, string>>

/** Trace context of a call (W3C), passed on to the calls that it makes. */
export interface Trace {
  readonly traceparent: string
  readonly tracestate?: string
}

/** A plain copy: a context of the mesh makes its text only when it is read. */
export function fieldsOf({ traceparent, tracestate }: Trace): Trace {
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

/** One attempt to run an item of a queue. */
export interface QueueDelivery {
  /** The item's: the same at each attempt. */
  readonly id: string
  /** 1 for the first. Attempts that a crash has ended count, too. */
  readonly attempt: number
  /** When it was enqueued, in milliseconds since 1970. */
  readonly enqueuedAt: number
}

export interface Log {
  debug(message: string, fields?: object): void
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}

/** What a method knows about the call that it answers. */
export interface Context<E extends DeclaredErrors = DeclaredErrors> {
  readonly service: string
  readonly method: string
  /**
   * Aborts when the caller cancels, the deadline passes or the service stops. Its reason is the
   * BusbarError.
   */
  readonly signal: AbortSignal
  /** Set if the call runs an item of the app's queue. */
  readonly delivery: QueueDelivery | undefined
  /** Milliseconds until the deadline; Infinity without one. */
  readonly timeLeft: number
  readonly trace: Trace | undefined
  /** Metadata of the call; over HTTP the request's headers, with lower-case names. */
  readonly metadata: Metadata
  /** The calling service; undefined for calls from outside the app. */
  readonly caller: string | undefined
  readonly log: Log
  /** Ends the call with a declared error, by throwing it. */
  readonly fail: Fail<E>
  /** Sets a response header; has an effect only for calls over HTTP. */
  readonly setHeader: (name: string, value: string) => void
}

export type Fail<E extends DeclaredErrors> = <Code extends keyof E & string>(
  code: Code,
  ...data: undefined extends E[Code] ? [data?: E[Code]] : [data: E[Code]]
) => never
