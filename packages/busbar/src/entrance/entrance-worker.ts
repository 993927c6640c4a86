import type { Bridge } from './bridge.ts'
import { CallBridge } from './call-bridge.ts'
import type { EntranceAddon, EntranceChannel } from './load.ts'
import { QueueTimes } from './queue-times.ts'
import { at, bodyEndKind, bodyKind, clientEndedKind, closedKind, creditKind, flags, requestKind } from './records.ts'
import type { Batch } from './records.ts'
import type { GrpcCarrier } from '../shared/grpc-carrier.ts'
import type { ServeRequest } from '../shared/http-carrier.ts'
import { type ExchangeId, Replies } from './replies.ts'
import { RequestBridge } from './request-bridge.ts'

const threadBits = 0xff00

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
  /** Which batch the next one is. */
  #turn: 0 | 1 = 0
  readonly #take = (): void => this.#takeBatch()

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
    this.#channel = new addon.EntranceChannel(entrance, values, this.#take)
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
    this.replies.close()
    this.#channel.close()
  }

  #takeBatch(): void {
    const taken = this.#channel.take()
    const batch = this.#batches[this.#turn]
    this.#turn = this.#turn === 0 ? 1 : 0
    const end = (taken < 0 ? ~taken : taken) / 4
    const { words } = batch
    for (let record = 0; record < end; record += words[record]! / 4)
      try {
        this.#dispatch(batch, record)
      } catch (error) {
        // The program's own fault. The rest of the batch is other clients' requests.
        process.nextTick(rethrow, error)
      }
    if (taken < 0) setImmediate(this.#take)
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
