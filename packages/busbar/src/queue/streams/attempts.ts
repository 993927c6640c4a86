import type { Log } from '../../contract/context.ts'
import type { QueueCalls } from '../../mesh/typed/queue-calls.ts'
import type { MethodQueueSettings, QueueSettings } from '../../shared/queues.ts'
import type { RepeatedLines } from '../../shared/output/repeated-lines.ts'
import { settlesWithin } from '../../shared/settles-within.ts'
import type { ItemAttempt, Reason } from '../item-queue.ts'
import { buriedText, failedText } from '../messages.ts'
import type { QueueMeter } from '../queue-meter.ts'
import { delayAfter, type Outcome, runItem } from '../run-item.ts'
import { ackWait, isHeld, longestWait } from './ack-wait.ts'
import { acknowledge, type Delivery } from './consumers.ts'
import { decodeItem, encodeItem, type StoredItem } from './item-message.ts'
import { type ItemStreams, limitOf, signInterval, tryTo } from './item-streams.ts'

export interface AttemptsParts {
  readonly settings: QueueSettings
  readonly calls: QueueCalls
  readonly log: Log
  readonly meter: QueueMeter
  /** For what may repeat. */
  readonly lines: RepeatedLines
}

/** One attempt. It may outlive the connection that has delivered its message. */
interface Running {
  delivery: Delivery
  /** When it was certainly this host's for the last time. */
  heldAt: number
  /** Deliveries that other hosts have had meanwhile. Each is an attempt. */
  elsewhere: number
  readonly item: StoredItem & ItemAttempt
  /** Undefined: it runs. */
  outcome: Outcome | undefined
  endedAt: number
}

/** Deliveries that were read too late, one after the other. */
interface Left {
  readonly count: number
  /** The number of the last one. */
  readonly last: number
  readonly at: number
}

/** Milliseconds before an item that could not be moved is tried again. */
const shortestPause = 1_000
/** Times that a message waits for its host. An outcome that no server has taken is kept so long. */
const keptWaits = 3

/**
 * Attempts items of the cluster. Each delivery of a message of the stream `ready` is one. The
 * server counts the deliveries of a message, so an attempt counts before it begins. Only a host
 * that holds the message decides what follows a failure. A pause between two attempts is a stay in
 * the stream `later`: there it takes no place of the method's concurrency.
 */
export class Attempts {
  readonly #parts: AttemptsParts
  readonly #running = new Map<string, Running>()
  readonly #left = new Map<string, Left>()
  readonly #timer: NodeJS.Timeout
  #isPaused = false
  #idle: PromiseWithResolvers<void> | undefined

  constructor(parts: AttemptsParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#keepAlive(), signInterval).unref()
  }

  deliver(delivery: Delivery): void {
    const { message, streams } = delivery
    const item = decodeItem(message.data)
    if (item === undefined) {
      this.#parts.log.error(`queue: message ${message.seq} of ${streams.nameOf('ready')} is no item, and is dropped`)
      return message.term()
    }
    const key = `${message.seq} ${item.id}`
    const known = this.#running.get(key)
    if (known !== undefined) {
      if (countOf(delivery) < countOf(known.delivery)) return
      // The connection was lost in between, or this host was silent for too long.
      known.elsewhere += Math.max(0, countOf(delivery) - countOf(known.delivery) - 1)
      known.delivery = delivery
      known.heldAt = delivery.heldAt
      if (known.outcome !== undefined) void this.#settle(key, known)
    } else if (!isHeld(delivery.heldAt, delivery.wait)) this.#leave(key, delivery)
    else if (this.#isPaused) message.nak()
    else if (item.due > 0) void this.#defer(key, item, delivery)
    else this.#begin(key, item, delivery)
  }

  /** No attempt begins any more. Resolves when none runs, or after `limit` milliseconds. */
  async pause(limit: number): Promise<void> {
    this.#isPaused = true
    this.#idle ??= Promise.withResolvers()
    this.#settleIdle()
    await settlesWithin(limit, [this.#idle.promise])
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Another host may have it, or have completed it. If none has, it is delivered again. */
  #leave(key: string, delivery: Delivery): void {
    const count = this.#leftBefore(key, delivery) + 1
    this.#left.set(key, { count, last: countOf(delivery), at: performance.now() })
  }

  /** How many deliveries just before this one were no attempts. */
  #leftBefore(key: string, delivery: Delivery): number {
    const left = this.#left.get(key)
    return left?.last === countOf(delivery) - 1 ? left.count : 0
  }

  #begin(key: string, stored: StoredItem, delivery: Delivery): void {
    const target = delivery.streams.targetOf(delivery.message.subject)
    const before = countOf(delivery) - 1 - this.#leftBefore(key, delivery)
    this.#left.delete(key)
    const begun = stored.attempts + before
    if (before === 0) this.#run(key, { ...stored, target, attempt: begun + 1 }, delivery)
    else if (begun >= this.#settingsOf(target).attempts)
      this.#run(key, { ...stored, target, attempt: begun }, delivery, died)
    else void this.#passOn(key, { ...stored, target, attempt: begun + 1 }, delivery)
  }

  /**
   * The host that had the message may have moved the item before it ended. So it is moved as that
   * host would have done: the server takes it once.
   */
  async #passOn(key: string, item: Running['item'], delivery: Delivery): Promise<void> {
    try {
      await this.#move({ ...item, attempts: item.attempt - 1, due: 0 }, item.target, delivery)
    } catch {
      // Another delivery would be another attempt.
      if (isHeld(delivery.streams.confirmedAt) && !this.#isPaused) this.#run(key, item, delivery)
    }
  }

  /** `outcome`: known before it begins. */
  #run(key: string, item: Running['item'], delivery: Delivery, known?: Outcome): void {
    const { calls, meter } = this.#parts
    const { target } = item
    const { heldAt } = delivery
    const running: Running = { delivery, heldAt, elsewhere: 0, item, outcome: undefined, endedAt: 0 }
    this.#running.set(key, running)
    if (known === undefined) meter.count(target, 'attempts')
    const ends =
      known === undefined ? runItem(item, calls, this.#settingsOf(target), 'streams') : Promise.resolve(known)
    void ends.then((outcome) => {
      running.outcome = outcome
      running.endedAt = performance.now()
      if (outcome.is === 'failed') meter.count(target, 'failures')
      return this.#settle(key, running)
    })
  }

  /** Tells the server how the attempt has ended. Never rejects. */
  async #settle(key: string, running: Running): Promise<void> {
    const { delivery, heldAt, item, outcome } = running
    try {
      if (outcome?.is !== 'failed') await acknowledge(delivery)
      else if (isHeld(heldAt, delivery.wait)) await this.#keepFailure(running, outcome)
      else throw new Error('this host was silent for too long, so another one may have the item')
      this.#running.delete(key)
    } catch (error) {
      // It is delivered again: to this host, which knows the outcome, or to another one.
      const { target, id } = item
      const why = (error as Error).message
      this.#parts.lines.add('warn', `queue ${target}: the outcome of ${id} is not kept: ${why}`, `${target} ${why}`)
    }
    this.#settleIdle()
  }

  async #keepFailure({ item, elsewhere, delivery }: Running, { why, final }: Failed): Promise<void> {
    const { target, attempt } = item
    const settings = this.#settingsOf(target)
    const attempts = attempt + elsewhere
    if (final || attempts >= settings.attempts) return await this.#bury({ ...item, attempt: attempts }, why, delivery)
    const delay = delayAfter(attempt, settings)
    this.#parts.log.warn(failedText(item, delay, why))
    try {
      await this.#move({ ...item, attempts, due: Date.now() + delay, pause: delay }, target, delivery)
    } catch (error) {
      if (limitOf(error) === undefined) throw error
      // The next delivery is the next attempt.
      delivery.message.nak(delay)
    }
  }

  async #bury(item: Running['item'], why: Reason, delivery: Delivery): Promise<void> {
    const { target, attempt } = item
    const { message, streams } = delivery
    const letter = { ...stored(item), attempts: attempt, why, diedAt: Date.now() }
    const msgID = `${streams.nameOf('ready')} ${message.seq} ${item.added}`
    const { seq } = await streams.publish('dead', target, encodeItem(letter), { msgID })
    await acknowledge(delivery)
    this.#parts.meter.count(target, 'buried')
    this.#parts.log.error(buriedText(item, seq, why))
  }

  /**
   * An item with a delay goes through `later` even if its time has come: the deliveries of this
   * message were no attempts.
   */
  async #defer(key: string, item: StoredItem, delivery: Delivery): Promise<void> {
    const { message, streams } = delivery
    const target = streams.targetOf(message.subject)
    try {
      await this.#move(item, target, delivery)
    } catch (error) {
      const wait = item.due - Date.now()
      // What waits in `later` may need the place that this item has in `ready`.
      if (wait <= 0 && limitOf(error) !== undefined && !this.#isPaused)
        this.#run(key, { ...item, target, attempt: item.attempts + 1 }, delivery)
      // What is not connected delivers again.
      else message.nak(Math.min(Math.max(wait, shortestPause), ackWait))
    }
  }

  /** Into the stream `later`. A message that is moved twice is one there. */
  async #move(item: StoredItem, target: string, delivery: Delivery): Promise<void> {
    const { message, streams } = delivery
    const msgID = `${streams.nameOf('ready')} ${message.seq} ${item.added}`
    await streams.publish('later', target, encodeItem(stored(item)), { msgID })
    await acknowledge(delivery)
  }

  #keepAlive(): void {
    const signed: Running[] = []
    for (const [key, running] of this.#running) {
      const { delivery, outcome, endedAt } = running
      if (outcome === undefined && tryTo(() => delivery.message.working())) signed.push(running)
      else if (outcome !== undefined && performance.now() - endedAt > keptWaits * delivery.wait)
        this.#running.delete(key)
    }
    const over = performance.now() - keptWaits * longestWait
    for (const [key, { at }] of this.#left) if (at < over) this.#left.delete(key)
    for (const [streams, runs] of Map.groupBy(signed, ({ delivery }) => delivery.streams)) void confirm(streams, runs)
  }

  #settleIdle(): void {
    if ([...this.#running.values()].every(({ outcome }) => outcome !== undefined)) this.#idle?.resolve()
  }

  #settingsOf(target: string): MethodQueueSettings {
    const { methods, usual } = this.#parts.settings
    return methods[target] ?? usual
  }
}

type Failed = Extract<Outcome, { is: 'failed' }>

/** The message was delivered before, and no outcome came. */
const died: Failed = {
  is: 'failed',
  why: {
    code: 'WORKER_DIED',
    message: 'the host, or its connection to NATS, ended during the attempt, or the item came to it too late',
  },
  final: true,
}

function stored({ id, added, due, pause, attempts, origin, input }: StoredItem): StoredItem {
  return { id, added, due, ...(pause !== undefined && { pause }), attempts, origin, input }
}

function countOf({ message }: Delivery): number {
  return message.info.deliveryCount
}

/** Waits until the server has had their signs of life. Never rejects. */
async function confirm(streams: ItemStreams, runs: readonly Running[]): Promise<void> {
  const at = await streams.confirm().catch(() => undefined)
  if (at === undefined) return
  // A sign that may have come too late gives nothing back.
  for (const running of runs)
    if (isHeld(running.heldAt, running.delivery.wait)) running.heldAt = Math.max(running.heldAt, at)
}
