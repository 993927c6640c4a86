import type { ServeRequest } from '../shared/entrance/http-carrier.ts'
import { at, type Batch, flags } from './records.ts'
import type { ExchangeId, Replies } from './replies.ts'
import { RequestCarrier } from './request-carrier.ts'

/** What only Node's own server handles, and a request that an instance has lost. */
const others = flags.more | flags.is10 | flags.upgrade | flags.chunked | flags.certificate | flags.lost

/**
 * Offers each request to the gateway without a connection or a parser. What that does not take
 * goes to the other bridge.
 */
export class RequestBridge {
  readonly #serve: ServeRequest
  readonly #replies: Replies
  /** Those that were not answered at once. */
  readonly #carriers = new Map<number, RequestCarrier>()
  readonly #onOver = ({ connection }: RequestCarrier): void => void this.#carriers.delete(connection)

  constructor(serve: ServeRequest, replies: Replies) {
    this.#serve = serve
    this.#replies = replies
  }

  /** False if it needs a connection. */
  request(batch: Batch, record: number, id: ExchangeId): boolean {
    const stated = batch.words[record + at.kind]! >>> 16
    if ((stated & others) !== 0 || (stated & flags.keepAlive) === 0) return false
    const carrier = new RequestCarrier(batch, record, id, this.#replies, this.#onOver)
    if (!this.#serve(carrier)) return false
    if (carrier.isOpen) this.#carriers.set(carrier.connection, carrier)
    return true
  }

  credit(connection: number, epoch: number, length: number): void {
    const carrier = this.#carriers.get(connection)
    if (carrier?.epoch === epoch) carrier.sent(length)
  }

  clientEnded(connection: number): void {
    this.#carriers.get(connection)?.clientEnded()
  }

  closed(connection: number): void {
    this.#carriers.get(connection)?.closed()
  }
}
