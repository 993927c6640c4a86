import type { Log } from '../../contract/context.ts'
import type { QueueCalls } from '../../mesh/typed/queue-calls.ts'
import type { JsMsg } from '../../shared/cluster/jetstream.ts'
import type { MethodQueueSettings, QueueSettings } from '../../shared/queues.ts'
import { settlesWithin } from '../../shared/settles-within.ts'
import type { ItemAttempt, Reason } from '../item-queue.ts'
import { buriedText, failedText } from '../messages.ts'
import type { QueueMeter } from '../queue-meter.ts'
import { delayAfter, type Outcome, runItem } from '../run-item.ts'
import { decodeItem, encodeItem, type StoredItem } from './item-message.ts'
import { type ItemStreams, limitOf } from './item-streams.ts'

export interface AttemptsParts {
  readonly settings: QueueSettings
  readonly calls: QueueCalls
  readonly log: Log
  readonly meter: QueueMeter
}

/** A message of the stream `ready`. Each delivery is an attempt. */
export interface Delivery {
  readonly message: JsMsg
  readonly streams: ItemStreams
}

/** One attempt. It may outlive the connection that has delivered its message. */
interface Running {
  delivery: Delivery
  readonly item: StoredItem & ItemAttempt
  /** Undefined: it runs. */
  outcome: Outcome | undefined
  endedAt: number
}

/** Milliseconds after which a message whose host says nothing goes to another one. */
export const ackWait = 10_000
/** Milliseconds between two signs of life for each message. */
const workingInterval = 3_000
/** Milliseconds that an outcome is kept which no server has taken. */
const keptOutcome = 3 * ackWait

/**
 * Attempts items of the cluster. The server counts the deliveries of a message, so an attempt
 * counts before it begins. A pause between two attempts is a stay in the stream `later`: there it
 * takes no place of the method's concurrency.
 */
export class Attempts {
  readonly #parts: AttemptsParts
  readonly #running = new Map<string, Running>()
  readonly #timer: NodeJS.Timeout
  #isPaused = false
  #idle: PromiseWithResolvers<void> | undefined

  constructor(parts: AttemptsParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#keepAlive(), workingInterval).unref()
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
      // The connection was lost in between.
      known.delivery = delivery
      if (known.outcome !== undefined) void this.#settle(key, known)
    } else if (this.#isPaused) message.nak()
    else if (item.due > Date.now()) void this.#defer(item, delivery)
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

  #begin(key: string, stored: StoredItem, delivery: Delivery): void {
    const { calls, meter } = this.#parts
    const target = delivery.streams.targetOf(delivery.message.subject)
    const settings = this.#settingsOf(target)
    const begun = stored.attempts + delivery.message.info.deliveryCount - 1
    const isOver = delivery.message.info.deliveryCount > 1 && begun >= settings.attempts
    const item = { ...stored, target, attempt: isOver ? begun : begun + 1 }
    const running: Running = { delivery, item, outcome: undefined, endedAt: 0 }
    this.#running.set(key, running)
    if (!isOver) meter.count(target, 'attempts')
    void (isOver ? Promise.resolve(died) : runItem(item, calls, settings, 'streams')).then((outcome) => {
      running.outcome = outcome
      running.endedAt = performance.now()
      if (outcome.is === 'failed') meter.count(target, 'failures')
      return this.#settle(key, running)
    })
  }

  /** Tells the server how the attempt has ended. Never rejects. */
  async #settle(key: string, running: Running): Promise<void> {
    const { delivery, item, outcome } = running
    try {
      if (outcome?.is === 'failed') await this.#keepFailure(item, outcome, delivery)
      else await delivery.message.ackAck()
      this.#running.delete(key)
    } catch (error) {
      // It is delivered again: to this host, which knows the outcome, or to another one.
      this.#parts.log.warn(`queue ${item.target}: the outcome of ${item.id} is not kept: ${(error as Error).message}`)
    }
    this.#settleIdle()
  }

  async #keepFailure(item: Running['item'], { why, final }: Failed, delivery: Delivery): Promise<void> {
    const { target, attempt } = item
    const settings = this.#settingsOf(target)
    if (final || attempt >= settings.attempts) return await this.#bury(item, why, delivery)
    const delay = delayAfter(attempt, settings)
    this.#parts.log.warn(failedText(item, delay, why))
    try {
      await this.#move({ ...item, attempts: attempt, due: Date.now() + delay }, target, delivery)
    } catch (error) {
      if (limitOf(error) === undefined) throw error
      // The next delivery is the next attempt.
      delivery.message.nak(delay)
    }
  }

  async #bury(item: Running['item'], why: Reason, { message, streams }: Delivery): Promise<void> {
    const { target, attempt } = item
    const letter = { ...stored(item), attempts: attempt, why, diedAt: Date.now() }
    const msgID = `${streams.nameOf('ready')} ${message.seq} ${item.added}`
    const { seq } = await streams.client.publish(streams.subjectOf('dead', target), encodeItem(letter), { msgID })
    await message.ackAck()
    this.#parts.meter.count(target, 'buried')
    this.#parts.log.error(buriedText(item, seq, why))
  }

  async #defer(item: StoredItem, delivery: Delivery): Promise<void> {
    try {
      await this.#move(item, delivery.streams.targetOf(delivery.message.subject), delivery)
    } catch {
      // What is full has room later; what is not connected delivers again.
      delivery.message.nak(Math.min(item.due - Date.now(), ackWait))
    }
  }

  /** Into the stream `later`. A message that is moved twice is one there. */
  async #move(item: StoredItem, target: string, { message, streams }: Delivery): Promise<void> {
    const msgID = `${streams.nameOf('ready')} ${message.seq} ${item.attempts}`
    await streams.client.publish(streams.subjectOf('later', target), encodeItem(stored(item)), { msgID })
    await message.ackAck()
  }

  #keepAlive(): void {
    for (const [key, { delivery, outcome, endedAt }] of this.#running)
      if (outcome === undefined) tryTo(() => delivery.message.working())
      else if (performance.now() - endedAt > keptOutcome) this.#running.delete(key)
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
  why: { code: 'WORKER_DIED', message: 'the host, or its connection to NATS, ended during the attempt' },
  final: true,
}

function stored({ id, added, due, attempts, origin, input }: StoredItem): StoredItem {
  return { id, added, due, attempts, origin, input }
}

/** A connection that is closed says nothing to the server. */
function tryTo(work: () => void): void {
  try {
    work()
  } catch {
    // Its message is delivered again.
  }
}
