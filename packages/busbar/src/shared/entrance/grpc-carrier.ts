import type { X509Certificate } from 'node:crypto'

/** The client of a call, as its socket shows it. */
export interface GrpcPeer {
  readonly remoteAddress?: string | undefined
  readonly encrypted?: boolean
  /** The client has shown a certificate, and it was checked. */
  readonly authorized?: boolean
  getPeerX509Certificate?(): X509Certificate | undefined
}

/**
 * A stream of HTTP/2 as a gRPC call sees it: what differs between the portable gateway and the
 * native entrance. Framing, statuses and messages are above it.
 */
export interface GrpcCarrier {
  readonly peer: GrpcPeer
  /**
   * Lower-case names, with `:method`, `:path` and `:authority`. Repeated fields are joined.
   */
  readonly headers: Readonly<Record<string, string>>
  /**
   * All that the client sends, if it came with the head: then `attach` calls none of `onData` and
   * `onEnd`. Valid in the turn in which the carrier was made.
   */
  readonly whole?: Uint8Array | undefined
  /** Once, in the turn in which the carrier was made. */
  attach(events: CarrierEvents): void
  /** Sends the response's head. */
  respond(fields: Readonly<Record<string, string>>): void
  /** False: the client reads slowly; wait for `onDrain`. */
  write(bytes: Uint8Array): boolean
  /**
   * The whole response of a call that has succeeded: the usual head, one message with its frame,
   * without compression, and the trailers. `framed` is not used after this returns.
   */
  answer(framed: Uint8Array): void
  /** Ends the response. Without a head before, the trailers are the only fields. */
  finish(trailers: Readonly<Record<string, string>>): void
  /** Refuses what is not gRPC by an HTTP status. */
  refuse(status: number, text: string): void
  /** Stops reading until {@link resume}: the client's window fills. */
  pause(): void
  resume(): void
}

/** What arrives on the stream. Nothing follows `onClose`. */
export interface CarrierEvents {
  onData(chunk: Uint8Array): void
  /** The client has sent everything. */
  onEnd(): void
  onDrain(): void
  /** The stream has ended, was reset, or its connection is gone. */
  onClose(): void
}

/** Of a response, whatever its encoding. */
export const answerFields: Readonly<Record<string, string>> = { 'content-type': 'application/grpc' }
