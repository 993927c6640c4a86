import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../contract/context.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { Enqueued } from '../../contract/queues/enqueue.ts'
import type { QueueCalls } from '../../mesh/typed/queue-calls.ts'
import { ClusterConnection, type NatsConnection } from '../../shared/cluster/connection.ts'
import { loadJetStream } from '../../shared/cluster/jetstream.ts'
import type { Subscriptions } from '../../shared/cluster/subscriptions.ts'
import type { QueueCells } from '../../shared/metrics/queue-cells.ts'
import { RepeatedLines, withoutQuoted } from '../../shared/output/repeated-lines.ts'
import type { QueueOrder, QueuePlace, QueueSettings } from '../../shared/queues.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import type { ItemQueue, ItemToAdd } from '../item-queue.ts'
import { closed } from '../messages.ts'
import { QueueMeter } from '../queue-meter.ts'
import { Attempts } from './attempts/attempts.ts'
import { OtherVersions } from './attempts/other-versions.ts'
import { isLarge } from './item-size.ts'
import { ItemStreams } from './item-streams.ts'
import { MemberVersions } from './member-versions.ts'
import { NetworkPace } from './network-pace.ts'
import { faultOf, hintOf, type QueueFault } from './queue-faults.ts'
import { QueueSession } from './queue-session.ts'

export interface StreamQueueParts {
  readonly place: Extract<QueuePlace, { is: 'streams' }>
  readonly settings: QueueSettings
  readonly calls: QueueCalls
  readonly log: Log
  readonly cells: (service: string) => QueueCells | undefined
}

/** Milliseconds that an item waits for the server. */
const serverTimeout = 10_000
/**
 * Milliseconds that a look waits in all while servers elect leaders: of all streams first, then of
 * this one. The connection may be lost with the server that has led.
 */
const lookLimit = 20_000
/** Milliseconds that the reason of a refusal is worth, after a connection was lost. */
const nextConnectionLimit = 2_000
/** Milliseconds between two attempts to set the streams up. */
const setUpPause = 1_000
/**
 * Milliseconds of each request of the first attempt, and at most. While servers elect a leader,
 * requests get no answer, then or later. A server that is slow needs longer.
 */
const [shortestSetUp, longestSetUp] = [1_500, 12_000]

/**
 * The queue of a cluster: streams of JetStream, which all hosts share. Each host runs items of the
 * services that it has.
 */
export class StreamQueue implements ItemQueue {
  readonly #parts: StreamQueueParts
  readonly #meter: QueueMeter
  readonly #lines: RepeatedLines
  readonly #members: MemberVersions
  readonly #others: OtherVersions
  readonly #attempts: Attempts
  readonly #connection: ClusterConnection
  readonly #pace = new NetworkPace()
  #session: QueueSession | undefined
  #opened = Promise.withResolvers<void>()
  #fault: QueueFault | undefined
  #isClosed = false

  constructor(parts: StreamQueueParts) {
    this.#parts = parts
    this.#meter = new QueueMeter(parts.cells)
    this.#lines = new RepeatedLines((level, line) => parts.log[level](line))
    const own = { ...parts, meter: this.#meter, lines: this.#lines }
    this.#members = new MemberVersions({ ...parts, services: parts.place.services })
    this.#others = new OtherVersions({ ...own, members: this.#members })
    this.#attempts = new Attempts({ ...own, others: this.#others })
    const { cluster: config } = parts.place
    this.#connection = new ClusterConnection({
      config,
      name: 'busbar queue',
      opened: (connection, subscriptions) => void this.#open(connection, subscriptions),
      lost: () => this.#lost(),
      transitTime: () => this.#session?.transitTime ?? 0,
      log: (level, line) => parts.log[level](line),
    })
  }

  async add(item: ItemToAdd): Promise<Enqueued> {
    const session = await this.#current()
    try {
      return await session.add(item)
    } catch (error) {
      if (BusbarError.is(error) && error.code === 'QUEUE_UNAVAILABLE' && isLarge(item))
        throw (await this.#sizeRefusalAfter(session, item)) ?? error
      throw error
    }
  }

  /**
   * A server whose `max_payload` was made smaller ends the connection by which a larger message
   * comes, and its reason may be lost with it. The next connection knows the limit.
   */
  async #sizeRefusalAfter(session: QueueSession, item: ItemToAdd): Promise<BusbarError | undefined> {
    if (!session.isClosed) return undefined
    await settlesWithin(nextConnectionLimit, [session.ended.then(() => this.#opened.promise)])
    return this.#session?.sizeRefusal(item)
  }

  async order(order: QueueOrder): Promise<unknown> {
    if (order.kind === 'pause') return await this.#pause(order.limit)
    const until = performance.now() + lookLimit
    const session = await this.#current(order.kind === 'list' ? lookLimit : serverTimeout)
    return await session.order(order, until - performance.now())
  }

  async close(limit: number): Promise<void> {
    await this.#pause(limit)
    this.#isClosed = true
    this.#opened.resolve()
    this.#session?.end()
    this.#attempts.close()
    this.#lines.close()
    await this.#connection.close()
  }

  async #pause(limit: number): Promise<void> {
    this.#members.leave()
    await this.#session?.stopConsuming()
    await this.#attempts.pause(limit)
  }

  /** Never rejects. */
  async #open(connection: NatsConnection, subscriptions: Subscriptions): Promise<void> {
    const { place, settings, log } = this.#parts
    const { name: cluster, replicas } = place.cluster
    for (let failures = 0; !connection.isClosed() && !this.#isClosed; failures++) {
      try {
        const modules = loadJetStream(place.cluster)
        const streams = new ItemStreams({
          connection,
          modules,
          cluster,
          replicas,
          pace: this.#pace,
          bytesRead: () => this.#connection.bytesRead,
          dial: (timeout) => this.#connection.dial(timeout),
          renewLimit: () => this.#connection.renewLimit(),
        })
        await streams.open(settings, Math.min(longestSetUp, shortestSetUp * 2 ** failures))
        if (connection.isClosed()) return
        this.#session = new QueueSession({
          ...this.#parts,
          meter: this.#meter,
          attempts: this.#attempts,
          others: this.#others,
          members: this.#members,
          lines: this.#lines,
          pace: this.#pace,
          streams,
          subscriptions,
          services: place.services,
        })
        this.#fault = undefined
        this.#opened.resolve()
        return
      } catch (error) {
        const { is, message: said } = faultOf(error)
        const message = `JetStream cannot be used: ${said}`
        // The subject for answers, which a server may refuse, is another one each time.
        const isNew = withoutQuoted(message) !== withoutQuoted(this.#fault?.message ?? '')
        if (isNew && !connection.isClosed()) log.warn(`queue: ${message}; it is tried until it can`)
        this.#fault = { is, message }
        await sleep(setUpPause, undefined, { ref: false })
      }
    }
  }

  #lost(): void {
    this.#session?.end()
    if (this.#session !== undefined) this.#opened = Promise.withResolvers()
    this.#session = undefined
  }

  /** `limit`: milliseconds that it waits while servers seem to elect a leader. */
  async #current(limit = serverTimeout): Promise<QueueSession> {
    await this.#openedWithin(serverTimeout)
    if (this.#connection.fault === undefined && this.#fault?.is === 'unled')
      await this.#openedWithin(limit - serverTimeout)
    if (this.#isClosed) throw closed()
    if (this.#session !== undefined) return this.#session
    const fault = this.#currentFault
    throw new BusbarError('QUEUE_UNAVAILABLE', {
      message: `the queue of the cluster cannot be reached: ${fault.message}`,
      hint: hintOf(fault),
    })
  }

  get #currentFault(): QueueFault {
    const { fault: message, isRefused } = this.#connection
    if (message !== undefined) return { is: isRefused ? 'refused' : 'unreachable', message }
    return this.#fault ?? { is: 'unled', message: 'JetStream has not answered yet' }
  }

  async #openedWithin(limit: number): Promise<void> {
    if (this.#session === undefined) await settlesWithin(limit, [this.#opened.promise])
  }
}
