import type { Log } from '../../../contract/context.ts'
import type { QueueCalls } from '../../../mesh/typed/queue-calls.ts'
import type { MethodQueueSettings, QueueSettings } from '../../../shared/queues.ts'
import type { RepeatedLines } from '../../../shared/output/repeated-lines.ts'
import { settlesWithin } from '../../../shared/time/settles-within.ts'
import { splitTarget } from '../../item-queue.ts'
import { buriedText, failedText } from '../../messages.ts'
import type { QueueMeter } from '../../queue-meter.ts'
import { delayAfter, type Failed, type Outcome, runItem } from '../../run-item.ts'
import { ackWait, isHeld } from '../ack-wait.ts'
import {
  type Attempt,
  begunOf,
  complete,
  confirm,
  countOf,
  died,
  type Ended,
  isSame,
  keptWaits,
  moveToDead,
  moveToLater,
  newAttempt,
  passOn,
} from './attempt.ts'
import type { BegunDelivery } from './begun-counts.ts'
import { BegunList } from './begun-list.ts'
import { acknowledgeBy, type Delivery } from '../consumers/consumers.ts'
import { type Earlier, earlierAttempts } from './earlier-attempts.ts'
import type { OtherVersions } from './other-versions.ts'
import { decodeItem, type StoredItem } from '../item-message.ts'
import { tryTo } from '../item-streams.ts'
import { hasNoRoom } from '../queue-faults.ts'
import { signInterval } from '../server-pings.ts'

export interface AttemptsParts {
  readonly settings: QueueSettings
  readonly calls: QueueCalls
  readonly log: Log
  readonly meter: QueueMeter
  readonly others: OtherVersions
  /** For what may repeat. */
  readonly lines: RepeatedLines
}

/** Milliseconds before an item that could not be moved, or begun, is tried again. */
const shortestPause = 1_000
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
  readonly list = new BegunList()
  readonly #parts: AttemptsParts
  /** By the number of the message. */
  readonly #running = new Map<number, Attempt>()
  readonly #timer: NodeJS.Timeout
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
    const known = this.#running.get(message.seq)
    if (known !== undefined && isSame(known.item, item)) return this.#deliverAgain(known, delivery)
    // The stream was made anew, and counts from 1 again. The message of the known one is no more.
    if (known !== undefined) this.#leave(known)
    // Another host may have it, or have completed it. If none has, it is delivered again.
    if (!isHeld(heldAt, delivery.wait) || streams !== this.list.streams) return
    const target = streams.targetOf(message.subject)
    if (this.#isPaused) message.nak()
    else if (!this.#isServed(target)) message.nak(shortestPause)
    else if (item.due > 0) void this.#defer(item, target, delivery)
    else void this.#begin(newAttempt(item, target, delivery))
  }

  /** No attempt begins any more. Resolves when none runs, or after `limit` milliseconds. */
  async pause(limit: number): Promise<void> {
    this.#isPaused = true
    this.#idle ??= Promise.withResolvers()
    this.#settleIdle()
    await settlesWithin(limit, [this.#idle.promise])
    await settlesWithin(closeLimit, [this.list.close()])
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** The connection was lost in between, or this host was silent for too long. */
  #deliverAgain(known: Attempt, delivery: Delivery): void {
    if (countOf(delivery) < countOf(known.delivery)) return
    known.delivery = delivery
    known.heldAt = delivery.heldAt
    if (known.stage.is === 'ended') void this.#settle(known, known.stage)
  }

  /** Never rejects. */
  async #begin(attempt: Attempt): Promise<void> {
    const { item, delivery } = attempt
    this.#running.set(delivery.message.seq, attempt)
    const as = { seq: delivery.message.seq, added: item.added, count: countOf(delivery) }
    try {
      const earlier = await this.#earlierOf(attempt, as)
      if (earlier.is === 'held') return await this.#giveBack(attempt, delivery, ackWait)
      attempt.number += earlier.begun
      if (earlier.is === 'died') return await this.#giveUp(attempt)
      const { others } = this.#parts
      const mayBeMoved = earlier.begun > 0 || others.mayHaveLeft(attempt)
      if (mayBeMoved && (await passOn(attempt))) return this.#remove(attempt)
      if (others.owns(attempt)) return await others.leave(attempt).then(() => this.#remove(attempt))
      attempt.listed = as
      const kept = this.list.add(as)
      await (delivery.streams.delay > 0 ? settlesWithin(slowLimit, [kept]) : kept)
    } catch (error) {
      this.#warn(attempt, `cannot begin at ${item.id}`, error)
      return await this.#giveBack(attempt, delivery)
    }
    const isHere = this.#has(attempt) && attempt.delivery === delivery && isHeld(attempt.heldAt, delivery.wait)
    if (isHere && !this.#isPaused && this.#isServed(attempt.target) && this.list.begin(as)) this.#run(attempt)
    else await this.#giveBack(attempt, delivery)
  }

  async #earlierOf({ item, target }: Attempt, as: BegunDelivery): Promise<Earlier> {
    if (as.count === 1) return { is: 'counted', begun: 0 }
    const left = this.#settingsOf(target).attempts - item.attempts
    return await earlierAttempts(this.list, as, left, () => this.#isPaused)
  }

  /** Its attempts have begun, and no host has brought their outcome. */
  async #giveUp(attempt: Attempt): Promise<void> {
    attempt.number--
    await this.#end(attempt, died)
  }

  /** It has not begun, and does not count. Never rejects. */
  async #giveBack(attempt: Attempt, delivery: Delivery, pause = shortestPause): Promise<void> {
    if (attempt.listed !== undefined) await this.list.takeBack(attempt.listed).catch(() => {})
    if (!this.#has(attempt)) return
    this.#remove(attempt)
    if (attempt.delivery !== delivery) this.deliver(attempt.delivery)
    else if (isHeld(attempt.heldAt, delivery.wait))
      tryTo(() => delivery.message.nak(this.#isPaused ? undefined : pause))
  }

  #run(attempt: Attempt): void {
    const { calls, meter } = this.#parts
    const { item, target, number } = attempt
    attempt.stage = { is: 'runs' }
    meter.count(target, 'attempts')
    const ends = runItem({ ...item, target, attempt: number }, calls, this.#settingsOf(target), 'streams')
    void ends.then((outcome) => this.#end(attempt, outcome))
  }

  /** Never rejects. */
  async #end(attempt: Attempt, outcome: Outcome): Promise<void> {
    if (outcome.is === 'failed' && outcome.isRefusal === true) return await this.#giveBack(attempt, attempt.delivery)
    const stage: Ended = { is: 'ended', outcome, at: performance.now() }
    attempt.stage = stage
    if (outcome.is === 'failed') this.#parts.meter.count(attempt.target, 'failures')
    if (this.#has(attempt)) await this.#settle(attempt, stage)
  }

  /** Tells the server how the attempt has ended. Never rejects. */
  async #settle(attempt: Attempt, ended: Ended): Promise<void> {
    const { outcome } = ended
    try {
      if (outcome.is === 'failed') await this.#keepFailure(attempt, ended, outcome)
      else await complete(attempt, this.list, acknowledgeBy(this.list.streams, attempt.delivery))
      this.#remove(attempt)
    } catch (error) {
      // It is delivered again: to this host, which knows the outcome, or to another one.
      this.#warn(attempt, `the outcome of ${attempt.item.id} is not kept`, error)
    }
    this.#settleIdle()
  }

  async #keepFailure(attempt: Attempt, ended: Ended, { why, final }: Failed): Promise<void> {
    const { item, target, number } = attempt
    const attempts = await begunOf(attempt, this.list)
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
      await complete(attempt, this.list, moveToLater(waiting, target, delivery))
    } catch (error) {
      if (!hasNoRoom(error)) throw error
      // The next delivery is the next attempt.
      this.#leave(attempt)
      delivery.message.nak(pause)
    }
  }

  async #bury(attempt: Attempt, attempts: number, why: Failed['why']): Promise<void> {
    const { item, target, delivery } = attempt
    const moved = moveToDead({ ...item, attempts }, target, why, delivery)
    const { number, letter } = await complete(attempt, this.list, moved)
    this.#parts.meter.count(target, 'buried')
    this.#parts.log.error(buriedText({ target, attempt: attempts }, number, letter.why))
  }

  /** An item with a delay goes through `later` even if its time has come. */
  async #defer(item: StoredItem, target: string, delivery: Delivery): Promise<void> {
    const { message } = delivery
    try {
      await moveToLater(item, target, delivery)
    } catch (error) {
      const wait = item.due - Date.now()
      // What waits in `later` may need the place that this item has in `ready`.
      if (wait <= 0 && hasNoRoom(error) && !this.#isPaused) await this.#begin(newAttempt(item, target, delivery))
      // What is not connected delivers again.
      else message.nak(Math.min(Math.max(wait, shortestPause), ackWait))
    }
  }

  #keepAlive(): void {
    const signed: Attempt[] = []
    for (const attempt of this.#running.values()) {
      const { delivery, stage } = attempt
      if (stage.is !== 'ended') {
        if (tryTo(() => delivery.message.working())) signed.push(attempt)
      } else if (performance.now() - stage.at > keptWaits * delivery.wait) this.#leave(attempt)
      // The answer was lost with a connection. The item is complete, whichever host has it now.
      else if (stage.outcome.is === 'done' && delivery.streams !== this.list.streams) void this.#settle(attempt, stage)
    }
    this.list.repeat()
    for (const [streams, some] of Map.groupBy(signed, ({ delivery }) => delivery.streams)) void confirm(streams, some)
  }

  /** Its message is not another item's. */
  #has(attempt: Attempt): boolean {
    return this.#running.get(attempt.delivery.message.seq) === attempt
  }

  /** This host does not bring its outcome. */
  #leave(attempt: Attempt): void {
    if (attempt.listed !== undefined) this.list.leave(attempt.listed)
    this.#remove(attempt)
  }

  #remove(attempt: Attempt): void {
    if (this.#has(attempt)) this.#running.delete(attempt.delivery.message.seq)
    this.#settleIdle()
  }

  #settleIdle(): void {
    if ([...this.#running.values()].every(({ stage }) => stage.is === 'ended')) this.#idle?.resolve()
  }

  /** Messages that this host had asked for also come after its last instance has ended. */
  #isServed(target: string): boolean {
    return this.#parts.calls.serves(splitTarget(target)[0])
  }

  #settingsOf(target: string): MethodQueueSettings {
    const { methods, usual } = this.#parts.settings
    return methods[target] ?? usual
  }

  #warn({ target }: Attempt, what: string, error: unknown): void {
    const why = (error as Error).message
    // It may quote the subject of its message.
    const kind = why.replace(/'[^']*'/g, '')
    this.#parts.lines.add('warn', `queue ${target}: ${what}: ${why}`, `${target} ${kind}`)
  }
}
