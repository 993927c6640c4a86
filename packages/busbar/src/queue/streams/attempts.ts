import type { Log } from '../../contract/context.ts'
import type { QueueCalls } from '../../mesh/typed/queue-calls.ts'
import type { MethodQueueSettings, QueueSettings } from '../../shared/queues.ts'
import type { RepeatedLines } from '../../shared/output/repeated-lines.ts'
import { settlesWithin } from '../../shared/settles-within.ts'
import { buriedText, failedText } from '../messages.ts'
import type { QueueMeter } from '../queue-meter.ts'
import { delayAfter, type Outcome, runItem } from '../run-item.ts'
import { ackWait, isHeld } from './ack-wait.ts'
import {
  type Attempt,
  begunOf,
  confirm,
  countOf,
  died,
  type Ended,
  type Failed,
  moveToDead,
  moveToLater,
  newAttempt,
} from './attempt.ts'
import { BegunList } from './begun-list.ts'
import { acknowledge, type Delivery } from './consumers.ts'
import { decodeItem, type StoredItem } from './item-message.ts'
import { type ItemStreams, signInterval, tryTo } from './item-streams.ts'
import { limitOf } from './queue-faults.ts'

export interface AttemptsParts {
  readonly settings: QueueSettings
  readonly calls: QueueCalls
  readonly log: Log
  readonly meter: QueueMeter
  /** For what may repeat. */
  readonly lines: RepeatedLines
}

/** Milliseconds before an item that could not be moved, or begun, is tried again. */
const shortestPause = 1_000
/** Times that a message waits for its host. An outcome that no server has taken is kept so long. */
const keptWaits = 3
/**
 * Milliseconds that an attempt waits until it is listed, over a slow network. The answer comes
 * behind large messages, and what was sent is read also if this host dies.
 */
const slowLimit = 1_000
/** Milliseconds that a stop waits until the list of what has begun is deleted. */
const closeLimit = 500

/**
 * Attempts items of the cluster. An attempt counts when the servers have kept that it begins: a
 * delivery that comes too late, or to a host that stops, is none. Only a host that holds the
 * message decides what follows a failure. A pause between two attempts is a stay in the stream
 * `later`: there it takes no place of the method's concurrency.
 */
export class Attempts {
  readonly #parts: AttemptsParts
  readonly #running = new Map<string, Attempt>()
  readonly #timer: NodeJS.Timeout
  #list: BegunList | undefined
  #isPaused = false
  #idle: PromiseWithResolvers<void> | undefined

  constructor(parts: AttemptsParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#keepAlive(), signInterval).unref()
  }

  deliver(delivery: Delivery): void {
    const { message, streams, heldAt } = delivery
    const item = decodeItem(message.data)
    if (item === undefined) {
      this.#parts.log.error(`queue: message ${message.seq} of ${streams.nameOf('ready')} is no item, and is dropped`)
      return message.term()
    }
    const key = `${message.seq} ${item.id}`
    const known = this.#running.get(key)
    if (known !== undefined) return this.#deliverAgain(key, known, delivery)
    // Another host may have it, or have completed it. If none has, it is delivered again.
    if (!isHeld(heldAt, delivery.wait)) return
    const target = streams.targetOf(message.subject)
    if (this.#isPaused) message.nak()
    else if (item.due > 0) void this.#defer(key, item, target, delivery)
    else void this.#begin(key, newAttempt(item, target, delivery))
  }

  /** No attempt begins any more. Resolves when none runs, or after `limit` milliseconds. */
  async pause(limit: number): Promise<void> {
    this.#isPaused = true
    this.#idle ??= Promise.withResolvers()
    this.#settleIdle()
    await settlesWithin(limit, [this.#idle.promise])
    if (this.#list !== undefined) await settlesWithin(closeLimit, [this.#list.close()])
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** The connection was lost in between, or this host was silent for too long. */
  #deliverAgain(key: string, known: Attempt, delivery: Delivery): void {
    if (countOf(delivery) < countOf(known.delivery)) return
    known.delivery = delivery
    known.heldAt = delivery.heldAt
    if (known.stage.is === 'ended') void this.#settle(key, known, known.stage)
  }

  /** Never rejects. */
  async #begin(key: string, attempt: Attempt): Promise<void> {
    this.#running.set(key, attempt)
    const { item, target, delivery } = attempt
    const list = this.#listBy(delivery.streams)
    const as = { seq: delivery.message.seq, added: item.added, count: countOf(delivery) }
    try {
      const begun = as.count === 1 ? 0 : await list.countOf(as)
      attempt.number += begun
      if (begun > 0 && attempt.number > this.#settingsOf(target).attempts) return await this.#giveUp(key, attempt)
      if (begun > 0 && (await this.#passOn(attempt))) return this.#remove(key)
      attempt.listed = { list, as }
      const kept = list.add(as)
      await (delivery.streams.delay > 0 ? settlesWithin(slowLimit, [kept]) : kept)
    } catch (error) {
      this.#warn(attempt, `cannot begin at ${item.id}`, error)
      return await this.#giveBack(key, attempt, delivery)
    }
    const isHere = attempt.delivery === delivery && isHeld(attempt.heldAt, delivery.wait)
    if (isHere && !this.#isPaused) this.#run(key, attempt)
    else await this.#giveBack(key, attempt, delivery)
  }

  /** Its attempts have begun, and no host has brought their outcome. */
  async #giveUp(key: string, attempt: Attempt): Promise<void> {
    attempt.number--
    await this.#end(key, attempt, died)
  }

  /**
   * The host that had the message may have moved the item before it ended. So it is moved as that
   * host would have done: the server takes it once. False: there is no room.
   */
  async #passOn({ item, target, number, delivery }: Attempt): Promise<boolean> {
    try {
      await moveToLater({ ...item, attempts: number - 1, due: 0 }, target, delivery)
      return true
    } catch (error) {
      if (limitOf(error) === undefined) throw error
      return false
    }
  }

  /** It has not begun, and does not count. Never rejects. */
  async #giveBack(key: string, attempt: Attempt, delivery: Delivery): Promise<void> {
    await attempt.listed?.list.takeBack(attempt.listed.as).catch(() => {})
    this.#remove(key)
    if (attempt.delivery !== delivery) this.deliver(attempt.delivery)
    else if (isHeld(attempt.heldAt, delivery.wait))
      tryTo(() => delivery.message.nak(this.#isPaused ? undefined : shortestPause))
  }

  #run(key: string, attempt: Attempt): void {
    const { calls, meter } = this.#parts
    const { item, target, number } = attempt
    attempt.stage = { is: 'runs' }
    meter.count(target, 'attempts')
    const ends = runItem({ ...item, target, attempt: number }, calls, this.#settingsOf(target), 'streams')
    void ends.then((outcome) => this.#end(key, attempt, outcome))
  }

  /** Never rejects. */
  async #end(key: string, attempt: Attempt, outcome: Outcome): Promise<void> {
    const stage: Ended = { is: 'ended', outcome, at: performance.now() }
    attempt.stage = stage
    if (outcome.is === 'failed') this.#parts.meter.count(attempt.target, 'failures')
    await this.#settle(key, attempt, stage)
  }

  /** Tells the server how the attempt has ended. Never rejects. */
  async #settle(key: string, attempt: Attempt, ended: Ended): Promise<void> {
    const { outcome } = ended
    try {
      if (outcome.is === 'failed') await this.#keepFailure(attempt, ended, outcome)
      else await this.#complete(attempt, acknowledge(attempt.delivery))
      this.#running.delete(key)
    } catch (error) {
      // It is delivered again: to this host, which knows the outcome, or to another one.
      this.#warn(attempt, `the outcome of ${attempt.item.id} is not kept`, error)
    }
    this.#settleIdle()
  }

  async #keepFailure(attempt: Attempt, ended: Ended, { why, final }: Failed): Promise<void> {
    const { item, target, number } = attempt
    const attempts = await begunOf(attempt)
    const { delivery, heldAt } = attempt
    if (!isHeld(heldAt, delivery.wait))
      throw new Error('this host was silent for too long, so another one may have the item')
    const settings = this.#settingsOf(target)
    if (final || attempts >= settings.attempts) return await this.#bury(attempt, attempts, why)
    if (ended.pause === undefined) {
      ended.pause = delayAfter(number, settings)
      this.#parts.log.warn(failedText({ id: item.id, target, attempt: number }, ended.pause, why))
    }
    const { pause } = ended
    try {
      const waiting = { ...item, attempts, due: Date.now() + pause, pause }
      await this.#complete(attempt, moveToLater(waiting, target, delivery))
    } catch (error) {
      if (limitOf(error) === undefined) throw error
      // The next delivery is the next attempt.
      delivery.message.nak(pause)
    }
  }

  async #bury(attempt: Attempt, attempts: number, why: Failed['why']): Promise<void> {
    const { item, target, delivery } = attempt
    const number = await this.#complete(attempt, moveToDead({ ...item, attempts }, target, why, delivery))
    this.#parts.meter.count(target, 'buried')
    this.#parts.log.error(buriedText({ target, attempt: attempts }, number, why))
  }

  /** `done`: takes the message off the stream `ready`. */
  async #complete<T>({ listed }: Attempt, done: Promise<T>): Promise<T> {
    const result = await done
    listed?.list.forget(listed.as)
    return result
  }

  /** An item with a delay goes through `later` even if its time has come. */
  async #defer(key: string, item: StoredItem, target: string, delivery: Delivery): Promise<void> {
    const { message } = delivery
    try {
      await moveToLater(item, target, delivery)
    } catch (error) {
      const wait = item.due - Date.now()
      // What waits in `later` may need the place that this item has in `ready`.
      if (wait <= 0 && limitOf(error) !== undefined && !this.#isPaused)
        await this.#begin(key, newAttempt(item, target, delivery))
      // What is not connected delivers again.
      else message.nak(Math.min(Math.max(wait, shortestPause), ackWait))
    }
  }

  #keepAlive(): void {
    const signed: Attempt[] = []
    for (const [key, attempt] of this.#running) {
      const { delivery, stage } = attempt
      if (stage.is !== 'ended') {
        if (tryTo(() => delivery.message.working())) signed.push(attempt)
      } else if (performance.now() - stage.at > keptWaits * delivery.wait) this.#running.delete(key)
    }
    for (const [streams, some] of Map.groupBy(signed, ({ delivery }) => delivery.streams)) void confirm(streams, some)
  }

  #remove(key: string): void {
    this.#running.delete(key)
    this.#settleIdle()
  }

  #settleIdle(): void {
    if ([...this.#running.values()].every(({ stage }) => stage.is === 'ended')) this.#idle?.resolve()
  }

  #listBy(streams: ItemStreams): BegunList {
    if (this.#list?.streams !== streams) this.#list = new BegunList(streams)
    return this.#list
  }

  #settingsOf(target: string): MethodQueueSettings {
    const { methods, usual } = this.#parts.settings
    return methods[target] ?? usual
  }

  #warn({ target }: Attempt, what: string, error: unknown): void {
    const why = (error as Error).message
    this.#parts.lines.add('warn', `queue ${target}: ${what}: ${why}`, `${target} ${why}`)
  }
}
