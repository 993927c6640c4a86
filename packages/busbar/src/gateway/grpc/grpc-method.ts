import type { CallOptions } from '../../contract/call/call-types.ts'
import type { CallSink } from '../../contract/host/sink-answer.ts'
import type { StartedCall } from '../../contract/http/responder.ts'
import type { Trace } from '../../contract/context.ts'
import type { BusbarError } from '../../contract/errors.ts'
import type { Codec } from '../../contract/protobuf/codec.ts'

/** Options of one call, taken from its headers. */
export interface GrpcCallOptions extends CallOptions {
  readonly trace?: Trace | undefined
  readonly signal: AbortSignal
}

/** A method that clients reach at `/<service>/<method>`. */
export interface GrpcMethod {
  /** In messages: the service's and the method's name in the app. */
  readonly service: string
  readonly method: string
  readonly serverStreams: boolean
  readonly clientStreams: boolean
  readonly request: Codec
  readonly response: Codec
  /** Only clients with a certificate may call it. */
  readonly needsClientCertificate: boolean
  /**
   * Returns a promise, or an async iterable if it streams. Throws or rejects with a BusbarError.
   */
  call(input: unknown, options: GrpcCallOptions): Promise<unknown> | AsyncIterable<unknown>
  /** Counts a call that was refused before it reached the method. */
  refused?(error: BusbarError<string>, trace: Trace | undefined): void
  /**
   * A faster way to one answer. Returns undefined if the call has to take {@link call}. Throws as
   * that does.
   */
  start?(input: unknown, options: Omit<GrpcCallOptions, 'signal'>, sink: CallSink): StartedCall | undefined
}
