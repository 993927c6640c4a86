import type { CallEdge } from '../call/call-edge.ts'
import type { Enter, LiveCall } from '../call/live-call.ts'
import type { Log } from '../context.ts'
import type { BusbarError } from '../errors.ts'
import type { Interceptor } from './interceptors.ts'

/** Options of a hosted service that its methods need. */
export interface HostedOptions {
  readonly log: Log
  /** Copies arguments and results, so that unintended sharing shows. */
  readonly clone: boolean
  /** Runs the service's code in its own async context, without the caller's stores. */
  readonly enter?: Enter
}

/** Measures one call, which counts if `end` is called. */
export interface CallTimer {
  readonly end: () => void
}

/** The hosting service as its methods see it. */
export interface HostingService {
  readonly service: string
  readonly options: HostedOptions
  readonly interceptors: readonly Interceptor[]
  readonly cancellable: Set<LiveCall>
  /**
   * The reason to refuse a call now, which then counts for `edge`; undefined if the service accepts
   * calls.
   */
  refusal(edge: CallEdge | undefined): BusbarError | undefined
  /** Returns the timer of a call that is measured. */
  countStart(): CallTimer | undefined
  /** `failed`: there was no answer, or its status was 500 or higher. */
  countEnd(failed: boolean): void
}
