import type { Batch } from './records.ts'
import type { ExchangeId } from './replies.ts'

/**
 * Passes the entrance's requests to a program's server. `record`: the position of a record in the
 * batch, in words.
 */
export interface Bridge {
  /** Requests as values, or as text. */
  readonly values: boolean
  request(batch: Batch, record: number, id: ExchangeId): void
  /** A piece of a request's body. `isLast`: nothing else comes. */
  body(connection: number, epoch: number, bytes: Buffer, isLast: boolean, consumed: number): void
  /** The body is complete. `trailers`: what follows it on the wire. */
  bodyEnd(connection: number, epoch: number, trailers: Buffer): void
  /** The kernel has taken `length` bytes of the response. */
  credit(connection: number, epoch: number, length: number): void
  /** The client of an upgraded connection has closed its half. */
  clientEnded(connection: number): void
  /** `isReset`: by the client, and not by the end of both halves. */
  closed(connection: number, isReset: boolean): void
}
