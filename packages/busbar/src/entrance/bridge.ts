import type { Batch } from './records.ts'
import type { ExchangeId } from './replies.ts'

/**
 * A way from the entrance into a program's server. `record`: where one begins in the batch, in
 * words.
 */
export interface Bridge {
  /** Requests as values, or as text. */
  readonly values: boolean
  request(batch: Batch, record: number, id: ExchangeId): void
  /** A piece of a request's body. `isLast`: nothing else comes. */
  body(connection: number, epoch: number, bytes: Buffer, isLast: boolean, consumed: number): void
  /** The body is whole: its trailers. */
  bodyEnd(connection: number, epoch: number, trailers: Buffer): void
  /** So many bytes of the response are with the kernel. */
  credit(connection: number, epoch: number, length: number): void
  /** The client of an upgraded connection has closed its half. */
  clientEnded(connection: number): void
  closed(connection: number): void
}
