import type { Bridge } from './bridge.ts'
import { CallBridge } from './call-bridge.ts'
import type { EntranceAddon, EntranceChannel } from './load.ts'
import { QueueTimes } from './queue-times.ts'
import { at, bodyEndKind, bodyKind, clientEndedKind, closedKind, creditKind, flags, requestKind } from './records.ts'
import type { Batch } from './records.ts'
import type { GrpcCarrier } from '../shared/entrance/grpc-carrier.ts'
import type { ServeRequest } from '../shared/entrance/http-carrier.ts'
import { type ExchangeId, Replies } from './replies.ts'
import { RequestBridge } from './request-bridge.ts'

const threadBits = 0xff00

/**
 * Records that are dispatched before the ticks and promises of them run. A batch has up to one
 * request of each client. When all were begun first, all were alive at once: V8 of Node 26 took
 * objects of theirs for long-lived, allocated such objects in the old generation from then on, and
 * so kept all that they refer to until a full collection. In more than a third of all starts, a
 * GET cost twice as much (docs/decisions/expose/entrance.md). One at a time costs 2 to 4 µs more
 * of a POST.
 */
const recordsAtOnce = 8

/** A worker's end of the entrance: takes batches of requests, and gives each to the bridge. */
export class EntranceWorker {
  readonly replies: Replies
  readonly #channel: EntranceChannel
  readonly #batches: readonly [Batch, Batch]
  /** The first cell: the sequence of the request that was begun last. */
  readonly #cells: Int32Array
  readonly #queueTimes: QueueTimes
  readonly #bridge: Bridge
  readonly #calls: CallBridge
  /** Undefined: every request takes the bridge. */
  readonly #requests: RequestBridge | undefined
  /** The area of the current batch. */
  #area: 0 | 1 = 1
  /** The next record of that batch, and its end, in words. */
  #next = 0
  #end = 0
  /** Another batch waits behind it. */
  #hasMore = false
  readonly #wake = (): void => this.#takePart()

  /**
   * `serveCall`: for an entrance that knows gRPC. `serveRequest`: is offered what needs no
   * connection.
   */
  constructor(
    addon: EntranceAddon,
    entrance: number,
    values: boolean,
    bridge: (replies: Replies) => Bridge,
    serveCall: (carrier: GrpcCarrier) => void = refuseCall,
    serveRequest?: ServeRequest,
  ) {
    // Nothing is registered before the bridge is there, and no call comes before this turn is over.
    this.#channel = new addon.EntranceChannel(entrance, values, this.#wake)
    this.#batches = [batchIn(this.#channel.requests(0)), batchIn(this.#channel.requests(1))]
    this.#cells = new Int32Array(this.#channel.cells())
    this.#queueTimes = new QueueTimes(this.#channel, this.#cells)
    this.replies = new Replies(this.#channel)
    this.#bridge = bridge(this.replies)
    this.#calls = new CallBridge(serveCall, this.replies)
    this.#requests = serveRequest && new RequestBridge(serveRequest, this.replies)
  }

  /** Requests that are not answered, without upgraded connections. */
  get requests(): number {
    return this.#channel.inFlight - this.#channel.tunnels
  }

  /** Clients of all workers that may send requests. */
  get clients(): number {
    return this.#channel.clients
  }

  /** Gets a growing share of the requests for `window` milliseconds, beside the other workers. */
  startSlowly(window: number): void {
    this.#channel.startSlowly(window)
  }

  /** Takes no more requests. */
  drain(): void {
    this.#channel.drain()
  }

  /** Takes no new requests for now, or takes them again. */
  pause(isPaused: boolean): void {
    this.#channel.pause(isPaused)
  }

  /** Other workers get what was not begun. */
  close(): void {
    this.#next = this.#end = 0
    this.#hasMore = false
    this.replies.close()
    this.#channel.close()
  }

  /** Of the current batch, or of the next one. */
  #takePart(): void {
    if (this.#next === this.#end) this.#takeBatch()
    const batch = this.#batches[this.#area]
    for (let count = 0; count < recordsAtOnce && this.#next < this.#end; count++) {
      const record = this.#next
      this.#next += batch.words[record]! / 4
      try {
        this.#dispatch(batch, record)
      } catch (error) {
        // The program's own fault. The rest of the batch is other clients' requests, and has not
        // begun if the worker ends by it.
        process.nextTick(rethrow, error)
        break
      }
    }
    if (this.#next < this.#end) this.#channel.again()
    else if (this.#hasMore) setImmediate(this.#wake)
  }

  #takeBatch(): void {
    const taken = this.#channel.take()
    this.#area = this.#area === 0 ? 1 : 0
    this.#next = 0
    this.#end = (taken < 0 ? ~taken : taken) / 4
    this.#hasMore = taken < 0
  }

  #dispatch(batch: Batch, record: number): void {
    const { words, bytes } = batch
    const second = words[record + at.kind]!
    const connection = words[record + at.connection]!
    const epoch = words[record + at.epoch]!
    const kind = second & 0xff
    if (kind === requestKind) {
      this.#cells[0] = words[record + at.sequence]!
      this.#queueTimes.count(words[record + at.arrived]!)
      return this.#begin(batch, record, { thread: second & threadBits, slot: words[record + at.slot]!, epoch })
    }
    if (this.#calls.has(connection)) return this.#dispatchCall(kind, batch, record)
    const bridge = this.#bridge
    switch (kind) {
      case bodyKind: {
        const isLast = ((second >>> 16) & flags.more) === 0
        return bridge.body(connection, epoch, copyOf(bytes, words, record), isLast, words[record + at.headLength]!)
      }
      case bodyEndKind:
        return bridge.bodyEnd(connection, epoch, copyOf(bytes, words, record))
      case creditKind:
        this.#requests?.credit(connection, epoch, words[record + at.headLength]!)
        return bridge.credit(connection, epoch, words[record + at.headLength]!)
      case closedKind:
        this.#requests?.closed(connection)
        return bridge.closed(connection, ((second >>> 16) & flags.reset) !== 0)
      case clientEndedKind:
        this.#requests?.clientEnded(connection)
        return bridge.clientEnded(connection)
    }
  }

  #begin(batch: Batch, record: number, id: ExchangeId): void {
    if ((batch.words[record + at.kind]! >>> 16) & flags.grpc) return this.#calls.request(batch, record, id)
    if (this.#requests?.request(batch, record, id) !== true) this.#bridge.request(batch, record, id)
  }

  #dispatchCall(kind: number, { words, bytes }: Batch, record: number): void {
    const connection = words[record + at.connection]!
    const epoch = words[record + at.epoch]!
    const length = words[record + at.headLength]!
    if (kind === bodyKind) this.#calls.body(connection, epoch, copyOf(bytes, words, record), length)
    else if (kind === creditKind) this.#calls.credit(connection, epoch, length)
    else if (kind === clientEndedKind) this.#calls.clientEnded(connection)
    else if (kind === closedKind) this.#calls.closed(connection)
  }
}

function batchIn(memory: ArrayBuffer): Batch {
  return { words: new Int32Array(memory), bytes: Buffer.from(memory) }
}

/** The area is written again once the batch is done. */
function copyOf(bytes: Buffer, words: Int32Array, record: number): Buffer {
  const start = (record + at.bytes) * 4
  return Buffer.from(bytes.subarray(start, start + words[record + at.bodyLength]!))
}

function refuseCall(carrier: GrpcCarrier): void {
  carrier.refuse(415, 'This app serves no gRPC.\n')
}

function rethrow(error: unknown): never {
  throw error
}
