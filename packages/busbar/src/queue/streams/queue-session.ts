import { BusbarError } from '../../contract/errors.ts'
import type { Enqueued } from '../../contract/queues/enqueue.ts'
import type { QueueList, QueueOrder } from '../../shared/queues.ts'
import { apiCode, isApiError } from '../../shared/cluster/jetstream.ts'
import type { Subscriptions } from '../../shared/cluster/subscriptions.ts'
import { type ItemToAdd, splitTarget } from '../item-queue.ts'
import { full } from '../messages.ts'
import { type ItemCounts, listCounts } from '../queue-meter.ts'
import type { Attempts, AttemptsParts } from './attempts/attempts.ts'
import { moveWhenDue, SharedConsumer } from './consumers/consumers.ts'
import { dropDeadLetters, listDeadLetters, retryDeadLetters } from './dead-letters.ts'
import { explained, whenAnswered, whenLed } from './elections.ts'
import { encodeItem, headerText } from './item-message.ts'
import { sizeRefusal } from './item-size.ts'
import { type ItemStreams, tryTo } from './item-streams.ts'
import { LaterRoom } from './later-room.ts'
import type { MemberVersions } from './member-versions.ts'
import type { NetworkPace } from './network-pace.ts'
import { faultOf, hintOf, limitOf, type QueueFault } from './queue-faults.ts'

export interface SessionParts extends AttemptsParts {
  readonly streams: ItemStreams
  readonly attempts: Attempts
  readonly subscriptions: Subscriptions
  readonly pace: NetworkPace
  readonly members: MemberVersions
  /** Services of this app. Their items run here. */
  readonly services: readonly string[]
}

/** Milliseconds between looks at which services serve. */
const reviewInterval = 250
/** Milliseconds between looks at what is in the streams. */
const countInterval = 2_000
/** Milliseconds between pings, which show how long messages may have been on their way. */
const watchInterval = 1_000
/** Items that this host moves at a time when they are due. */
const moveBatch = 100

/** The queue by one connection to NATS, from its set-up to its loss. */
export class QueueSession {
  readonly #parts: SessionParts
  /** By target: those of the services of this app. */
  readonly #consumers = new Map<string, SharedConsumer>()
  readonly #later: SharedConsumer
  readonly #laterRoom: LaterRoom
  /** Methods of which other hosts know that they have items. */
  readonly #announced = new Set<string>()
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #ended = Promise.withResolvers<void>()
  #isConsuming = true

  constructor(parts: SessionParts) {
    this.#parts = parts
    const { streams, lines, settings, pace, attempts } = parts
    attempts.list.connect(streams)
    parts.members.connect(streams, parts.subscriptions)
    this.#laterRoom = new LaterRoom(streams, settings)
    this.#later = new SharedConsumer({
      streams,
      lines,
      stream: 'later',
      name: 'later',
      subject: streams.subjectOf('later'),
      maxPending: -1,
      batch: moveBatch,
      take: (delivery) => void moveWhenDue(delivery, lines),
      pace,
    })
    parts.subscriptions.subscribe(streams.news, {
      without: 'items of a method that has had none begin some seconds later',
      callback: (message) => this.#heard(message.string()),
    })
    const count = (): void => void this.#lookAgain()
    this.#timers = [
      setInterval(() => this.#review(), reviewInterval),
      setInterval(count, countInterval),
      setInterval(() => this.#watchNetwork(), watchInterval),
    ]
    for (const timer of this.#timers) timer.unref()
    count()
    this.#review()
  }

  async add(item: ItemToAdd): Promise<Enqueued> {
    const { target, id, until, due, added, input = null, origin } = item
    const { streams, meter } = this.#parts
    if (this.sizeRefusal(item) !== undefined) await streams.renewLimit()
    const refusal = this.sizeRefusal(item)
    if (refusal !== undefined) throw refusal
    const data = encodeItem({ id, added, due: due > added ? due : 0, attempts: 0, origin, input })
    const key = item.key ?? (until === undefined ? undefined : id)
    const options = key === undefined ? {} : { msgID: `${target} ${headerText(key)}` }
    const { duplicate } = await this.#publish(target, data, options, due > added)
    meter.count(target, duplicate ? 'duplicates' : 'enqueued')
    this.#announce(target)
    return { id, duplicate }
  }

  async #publish(
    target: string,
    data: Uint8Array,
    options: object,
    isDelayed: boolean,
  ): Promise<{ duplicate: boolean }> {
    const { streams, settings } = this.#parts
    try {
      const limit = isDelayed ? await this.#laterRoom.take(data.length) : undefined
      if (limit !== undefined)
        throw full(target, `queues.${limit} is ${settings[limit]}, for items that wait for their time`)
      return await whenLed(streams, 'ready', () => streams.publish('ready', target, data, options))
    } catch (error) {
      throw BusbarError.is(error) ? error : this.#refusal(target, error)
    }
  }

  /** `limit`: milliseconds that a look waits for an election. */
  async order(order: Exclude<QueueOrder, { kind: 'pause' }>, limit: number): Promise<unknown> {
    try {
      return await this.#carryOut(order, limit)
    } catch (error) {
      if (BusbarError.is(error)) throw error
      throw unanswered(order.kind, faultOf(error, this.#parts.streams.pings.isUnanswered), error)
    }
  }

  async #carryOut(order: Exclude<QueueOrder, { kind: 'pause' }>, wait: number): Promise<unknown> {
    const { streams } = this.#parts
    if (order.kind !== 'list') {
      const change = order.kind === 'drop' ? dropDeadLetters : retryDeadLetters
      const changed = await change(streams, order.number)
      // The change is made, whatever the next look says.
      await this.#count().catch(() => {})
      return changed
    }
    const { limit, isCheck } = order
    if (isCheck) await explained(streams, 'begun', () => this.#parts.attempts.list.check())
    return await whenAnswered(async (): Promise<QueueList> => {
      const dead = await listDeadLetters(streams, limit)
      return { queues: listCounts(await this.#count()), dead }
    }, wait)
  }

  /** No further messages come. */
  async stopConsuming(): Promise<void> {
    this.#isConsuming = false
    await Promise.all([this.#later, ...this.#consumers.values()].map((one) => one.set(false)))
  }

  /** Milliseconds that items may take to reach the server. */
  get transitTime(): number {
    return this.#parts.streams.transitTime
  }

  /** As {@link sizeRefusal}. */
  sizeRefusal(item: ItemToAdd): BusbarError | undefined {
    return sizeRefusal(item, this.#parts.streams)
  }

  get isClosed(): boolean {
    return this.#parts.streams.connection.isClosed()
  }

  /** Resolves when the connection is lost. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** The connection is lost, or is about to close. */
  end(): void {
    this.#ended.resolve()
    for (const timer of this.#timers) clearInterval(timer)
    const { streams, pace } = this.#parts
    // The server may have closed the connection because too much was on its way.
    const { isUnanswered, confirmedAt } = streams.pings
    if (isUnanswered && streams.pings.isSlow(confirmedAt)) pace.wasSlow(performance.now() - confirmedAt)
    streams.release()
  }

  #review(): void {
    const { calls, members, others } = this.#parts
    members.review()
    if (!this.#isConsuming) return
    void this.#later.set(true)
    for (const [target, consumer] of this.#consumers)
      void consumer.set(calls.serves(splitTarget(target)[0]) && !others.areAll(target) && !others.isFull(target))
  }

  #watchNetwork(): void {
    const { streams } = this.#parts
    void streams.pings.confirm().catch(() => {})
    for (const one of [this.#later, ...this.#consumers.values()]) one.watchNetwork(streams.pings.lateness)
  }

  /** Never rejects. */
  async #lookAgain(): Promise<void> {
    try {
      await this.#count()
    } catch (error) {
      if (isApiError(error, apiCode.streamNotFound)) await this.#restore()
    }
  }

  /** Somebody has deleted a stream that is in use. Other hosts may make it, too. Never rejects. */
  async #restore(): Promise<void> {
    const { streams, settings, log, lines } = this.#parts
    try {
      for (const name of await streams.restore(settings))
        log.error(`queue: the stream ${name} was deleted, with what it held; it has been made anew`)
    } catch (error) {
      if (streams.connection.isClosed()) return
      lines.add('error', `queue: a stream was deleted, and cannot be made anew: ${(error as Error).message}`)
    }
  }

  /** Also finds methods whose items came when this host was not there. */
  async #count(): Promise<Map<string, ItemCounts>> {
    const { streams, meter } = this.#parts
    const [ready, later, dead] = await Promise.all([
      streams.count('ready'),
      streams.count('later'),
      streams.count('dead'),
      streams.reader.streams.info(streams.nameOf('begun')),
    ])
    const running = await streams.countRunning()
    const counts = new Map<string, ItemCounts>()
    for (const target of new Set([...ready.keys(), ...later.keys(), ...dead.keys()])) {
      const of = (one: Map<string, number>): number => one.get(target) ?? 0
      const waiting = Math.max(0, of(ready) + of(later) - of(running))
      counts.set(target, { waiting, running: of(running), dead: of(dead) })
    }
    meter.show(counts)
    for (const target of ready.keys()) this.#heard(target)
    return counts
  }

  #announce(target: string): void {
    if (this.#announced.has(target)) return
    this.#announced.add(target)
    const { connection, news } = this.#parts.streams
    // Without it, other hosts find the item by their next look.
    tryTo(() => connection.publish(news, target))
    this.#heard(target)
  }

  #heard(target: string): void {
    const { services, streams, settings, attempts, lines, pace } = this.#parts
    if (this.#consumers.has(target) || !services.includes(splitTarget(target)[0])) return
    const { concurrency } = settings.methods[target] ?? settings.usual
    const consumer = new SharedConsumer({
      streams,
      lines,
      stream: 'ready',
      name: streams.consumerOf(target),
      subject: streams.subjectOf('ready', target),
      maxPending: concurrency,
      batch: concurrency,
      take: (delivery) => attempts.deliver(delivery),
      pace,
    })
    this.#consumers.set(target, consumer)
    this.#review()
  }

  #refusal(target: string, cause: unknown): BusbarError {
    const { settings } = this.#parts
    const limit = limitOf(cause)
    if (limit !== undefined) return full(target, `queues.${limit} is ${settings[limit]}`)
    const fault = faultOf(cause)
    return new BusbarError('QUEUE_UNAVAILABLE', {
      message: `${target} cannot be enqueued: NATS has not kept the item: ${fault.message}`,
      hint: fault.is === 'forbidden' ? hintOf(fault) : mayBeStored,
      cause,
    })
  }
}

const mayBeStored = 'NATS may have stored it all the same. Enqueue it again with the same id, so that it runs once.'

/** What an order may have done before it failed. */
const undone: Record<'list' | 'retry' | 'drop', string> = {
  list: '',
  retry: ' Some dead letters may be back in the queue: busbar queue lists those that are not.',
  drop: ' Some dead letters may be deleted: busbar queue lists those that are not.',
}

/** Also of a connection that is lost meanwhile. */
function unanswered(order: keyof typeof undone, fault: QueueFault, cause: unknown): BusbarError {
  const from = fault.is === 'unreachable' ? 'NATS' : 'JetStream'
  return new BusbarError('QUEUE_UNAVAILABLE', {
    message: `the queue of the cluster cannot be used: ${from}: ${fault.message}`,
    hint: hintOf(fault) + undone[order],
    cause,
  })
}
