import { backoff } from '../../../shared/time/backoff.ts'
import type { ConsumerMessages, JsMsg } from '../../../shared/cluster/jetstream.ts'
import type { RepeatedLines } from '../../../shared/output/repeated-lines.ts'
import { settlesWithin } from '../../../shared/time/settles-within.ts'
import { ackWait, isHeld } from '../ack-wait.ts'
import { ConsumerWait } from './consumer-wait.ts'
import { encodeItem, decodeItem, type StoredItem } from '../item-message.ts'
import { type ItemStreams, tryTo } from '../item-streams.ts'
import { LateItems } from './late-items.ts'
import type { NetworkPace } from '../network-pace.ts'
import { isTooLarge } from '../queue-faults.ts'

/** A message that this host has got. */
export interface Delivery {
  readonly message: JsMsg
  readonly streams: ItemStreams
  /** The message has left the server after this (`performance.now()`). */
  readonly heldAt: number
  /** Milliseconds that the server waits for a sign of life of it. May become less. */
  readonly wait: number
}

export interface ConsumerParts {
  readonly streams: ItemStreams
  readonly stream: 'ready' | 'later'
  /** A durable consumer, which all hosts share. */
  readonly name: string
  readonly subject: string
  /** Messages that all hosts together may have at a time. -1: no limit. */
  readonly maxPending: number
  /** Messages that this host asks for. */
  readonly batch: number
  readonly take: (delivery: Delivery) => void
  readonly pace: NetworkPace
  readonly lines: RepeatedLines
}

/** Takes messages of one consumer, while it is on. */
export class SharedConsumer {
  readonly #parts: ConsumerParts
  readonly #wait: ConsumerWait
  readonly #late: LateItems
  #isOn = false
  #isChanging = false
  #messages: ConsumerMessages | undefined
  #failures = 0
  #afterLate = Promise.resolve()
  /** It is not opened before. */
  #pausedUntil = -Infinity

  constructor(parts: ConsumerParts) {
    this.#parts = parts
    this.#wait = new ConsumerWait(parts)
    this.#late = new LateItems({ ...parts, wait: this.#wait })
  }

  /** Called again and again. Never rejects. */
  async set(isOn: boolean): Promise<void> {
    this.#isOn = isOn
    if (this.#isChanging || isOn === (this.#messages !== undefined)) return
    if (isOn && performance.now() < this.#pausedUntil) return
    this.#isChanging = true
    try {
      if (isOn) await this.#open()
      else await this.#close()
      this.#failures = 0
    } catch (error) {
      this.#pausedUntil = performance.now() + backoff(this.#failures++)
      if (!this.#parts.streams.connection.isClosed()) this.#warn(`cannot be consumed: ${(error as Error).message}`)
    }
    this.#isChanging = false
    if (this.#isOn !== isOn) await this.set(this.#isOn)
  }

  /** Called every second. `lateness`: that of {@link ServerPings}. */
  watchNetwork(lateness: number | undefined): void {
    if (this.#messages === undefined) return
    if (lateness !== undefined) void this.#late.expect(lateness)
    void this.#wait.look()
  }

  async #open(): Promise<void> {
    const { streams, subject, maxPending, pace } = this.#parts
    const consumer = await this.#wait.open({ filter_subject: subject, max_ack_pending: maxPending })
    const settings = {
      max_messages: pace.isSlow ? 1 : this.#parts.batch,
      expires: requestLife,
      abort_on_missing_resource: true,
      callback: this.#take,
    }
    await streams.pings.confirm()
    const messages = await consumer.consume(settings)
    this.#messages = messages
    void this.#watch(messages)
  }

  /** Never rejects. What has ended is opened by the next `set`. */
  async #watch(messages: ConsumerMessages): Promise<void> {
    const closed = messages.closed().then(() => {
      if (this.#messages === messages) this.#messages = undefined
    })
    for await (const status of messages.status()) {
      if (status.type !== 'heartbeats_missed' || status.count < mostMissed) continue
      // They may be behind a large message, and what is stopped now would be lost.
      if (this.#parts.streams.pings.isUnanswered) continue
      this.#warn('gets no messages; they are asked for anew')
      messages.stop()
    }
    await closed
  }

  readonly #take = (message: JsMsg): void => {
    const heldAt = this.#parts.streams.pings.confirmedAt
    if (isHeld(heldAt)) this.#parts.take(this.#deliveryOf(message, heldAt))
    else this.#afterLate = this.#afterLate.then(() => this.#takeLate(message, heldAt))
  }

  /** One after the other, so that deliveries of one message stay in their order. Never rejects. */
  async #takeLate(message: JsMsg, heldAt: number): Promise<void> {
    const delivery = this.#deliveryOf(message, heldAt)
    if (isHeld(heldAt, delivery.wait)) this.#late.hasCome(delivery)
    else {
      const left = heldAt + delivery.wait - performance.now()
      const raised = this.#late.raise(delivery)
      // Later, a longer wait is of no use to this message, and those behind it have come, too.
      if (left > 0) await settlesWithin(left, [raised])
    }
    // Of what was long on its way, the next regular sign of life could be too late.
    if (isHeld(heldAt, delivery.wait)) tryTo(() => message.working())
    this.#parts.take(delivery)
  }

  #deliveryOf(message: JsMsg, heldAt: number): Delivery {
    const wait = this.#wait
    return {
      message,
      streams: this.#parts.streams,
      heldAt,
      get wait() {
        return wait.of(heldAt)
      },
    }
  }

  #warn(what: string): void {
    const { lines, name } = this.#parts
    lines.add('warn', `queue: ${name} ${what}`)
  }

  async #close(): Promise<void> {
    const messages = this.#messages
    this.#messages = undefined
    if (messages === undefined) return
    await takeRest(messages)
    await messages.close()
  }
}

/** Milliseconds for messages that are on their way to a consumer which ends. */
const restLimit = 2_000

/**
 * The client's `close` drops what is on its way. The server would give that to nobody for
 * {@link ackWait}, and the method would stand still if its concurrency is no larger. Not every
 * version of the client may have this subscription.
 */
async function takeRest(messages: ConsumerMessages): Promise<void> {
  const { sub } = messages as { readonly sub?: { drain?(): Promise<void> } }
  const drained = sub?.drain?.()
  if (drained !== undefined) await settlesWithin(restLimit, [drained.catch(() => {})])
}

/**
 * Milliseconds. A request for messages is lost with the server that leads the consumer. The client
 * sends another one when two heartbeats are missing, of which there are two in this time. With its
 * default of 30 s, the items stopped for 40 s.
 */
const requestLife = 5_000

/** Signs of life of a consumer. The server may have refused the client's subscription. */
const mostMissed = 6

/** Milliseconds. The server keeps a pause, also one by a wrong clock after that was set right. */
const shortestLimit = 60_000
const longestLimit = 3_600_000
/** An item that waits for long is looked at about this often: each look is a delivery. */
const looks = 60
/** Milliseconds before a message that could not be moved is tried again. */
const retryPause = 1_000
/**
 * Milliseconds before that, if somebody has to raise `max_payload` of the servers first. Each try
 * delivers the message again.
 */
const largePause = 300_000

/** Milliseconds that the server has for an answer to an acknowledgement. */
const ackTimeout = 5_000

/** Resolves when the server has taken the message off the stream. */
export async function acknowledge({ message, streams }: Delivery): Promise<void> {
  await message.ackAck({ timeout: ackTimeout + streams.delay })
}

/**
 * As {@link acknowledge}, also by the connection that followed. The server takes it from every host
 * that ever had the message.
 */
export async function acknowledgeBy(streams: ItemStreams, delivery: Delivery): Promise<void> {
  if (streams === delivery.streams) return await acknowledge(delivery)
  if (!streams.hasSameItems(delivery.streams)) throw new Error('the stream was made anew')
  const { reply } = delivery.message as JsMsg & { readonly reply: string }
  await streams.connection.request(reply, '+ACK', { timeout: ackTimeout + streams.delay })
}

/** Moves items whose time has come back to the stream `ready`. No delivery of `later` counts. */
export async function moveWhenDue(delivery: Delivery, lines: Pick<RepeatedLines, 'add'>): Promise<void> {
  const { message, streams } = delivery
  // Another host may have moved it. If none has, it is delivered again.
  if (!isHeld(delivery.heldAt, delivery.wait)) return
  const item = decodeItem(message.data)
  if (item === undefined) return message.term()
  const wait = waitOf(item, message)
  if (wait > 0) return message.nak(wait)
  const target = streams.targetOf(message.subject)
  try {
    const msgID = `${streams.nameOf('later')} ${message.seq} ${item.added}`
    await streams.publish('ready', target, encodeItem({ ...item, due: 0 }), { msgID })
    await acknowledge(delivery)
  } catch (error) {
    if (!isTooLarge(error)) return message.nak(retryPause)
    // Here it takes no place of its method's concurrency, and nothing of it is lost.
    const what = `item ${item.id} of ${message.data.length} bytes waits until max_payload of NATS is large enough for it`
    lines.add('error', `queue ${target}: ${what}`, `${target} max_payload`)
    message.nak(largePause)
  }
}

/**
 * Milliseconds until the next look. By the server's clock it began to wait: that of the host that
 * has set `due` may be wrong. A short pause is over at the second look, whatever this host's clock
 * shows.
 */
function waitOf({ added, due, pause = due - added }: StoredItem, { timestampNanos, info }: JsMsg): number {
  if (pause <= ackWait && info.deliveryCount > 1) return 0
  const began = Number(timestampNanos / 1_000_000n)
  const left = Math.min(due, began + pause) - Date.now()
  return Math.min(left, pause, longestLimit, Math.max(shortestLimit, (due - added) / looks))
}
