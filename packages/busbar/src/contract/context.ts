import type { DeclaredErrors } from './errors.ts'

export type Metadata = Readonly<Record<string, string>>

/** Where a call stands in a trace (W3C Trace Context): passed on to the calls that it causes. */
export interface Trace {
  readonly traceparent: string
  readonly tracestate?: string
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
  /** Aborts when the caller gives up, the time is over or the service is stopped; its reason is the BusbarError. */
  readonly signal: AbortSignal
  /** Milliseconds; Infinity where nobody set a limit. */
  readonly timeLeft: number
  readonly trace: Trace | undefined
  /** What the caller said beside the input; over HTTP the request's headers, in lower case. */
  readonly metadata: Metadata
  /** The service that calls; undefined for calls from outside. */
  readonly caller: string | undefined
  readonly log: Log
  /** Ends the call with a declared error: throws it. */
  readonly fail: Fail<E>
  /** A header of the answer; only seen where the call came over HTTP. */
  readonly setHeader: (name: string, value: string) => void
}

export type Fail<E extends DeclaredErrors> = <Code extends keyof E & string>(
  code: Code,
  ...data: undefined extends E[Code] ? [data?: E[Code]] : [data: E[Code]]
) => never
