import { apiCode, isApiError, type Consumer, type ConsumerConfig } from '../../../shared/cluster/jetstream.ts'
import { ackWait, longestWait, nanos } from '../ack-wait.ts'
import type { ItemStreams } from '../item-streams.ts'
import type { NetworkPace } from '../network-pace.ts'
import type { ItemStream } from '../stream-settings.ts'

/** Of a consumer whose hosts are asked whether they need its longer wait. */
const ending = 'its ack_wait is about to be shortened'

/**
 * Milliseconds for which a host may rely on a longer wait after it has seen that nobody is about to
 * shorten it. Whoever shortens it has said so for longer.
 */
const lease = longestWait
const leaseMargin = 30_000
/** Milliseconds for which nobody has been about to shorten it before a host is. */
const quietTime = 120_000
/** Milliseconds. The server is asked at least so often, while the wait is longer than usual. */
const lookInterval = 60_000
/** Milliseconds. Between two looks no wait can be kept, and be about to be shortened again. */
const mostBetween = 100_000

type SeenConfig = Pick<ConsumerConfig, 'ack_wait' | 'description'>

export interface ConsumerWaitParts {
  readonly streams: ItemStreams
  readonly stream: ItemStream
  /** Of the consumer. */
  readonly name: string
  readonly pace: NetworkPace
}

/**
 * How long the server waits for a sign of life of a consumer's messages: {@link ackWait}, or longer
 * once a host has raised it because messages took longer to arrive. All hosts share the consumer,
 * and any of them may raise it at any time. A message that is not older than its wait when this
 * host knows of a longer one had not gone to another host, and has the longer wait from then on.
 *
 * A host shortens it when no host's network has been slow for a while. It says so in the
 * consumer's description first, for longer than any host relies on what it saw before. A host that
 * needs the wait takes that back.
 */
export class ConsumerWait {
  readonly #parts: ConsumerWaitParts
  /** What this host has learned, and when. */
  readonly #known = [{ wait: ackWait, at: -Infinity }]
  #leasedUntil = -Infinity
  /** The last answer of the server, and since when it has been the same. */
  #seen = { isEnding: false, since: -Infinity, at: -Infinity }
  #raising: Promise<boolean> | undefined
  #isChanging = false

  constructor(parts: ConsumerWaitParts) {
    this.#parts = parts
    const { streams, stream, name } = parts
    if (stream === 'ready') streams.watchWait(name, (config, askedAt) => this.#see(config, askedAt))
  }

  /** Creates the consumer, or applies the settings of this host. */
  async open(settings: Partial<ConsumerConfig>): Promise<Consumer> {
    const { streams, name } = this.#parts
    const { client, manager } = streams
    const stream = this.#streamName
    const get = (): Promise<Consumer> => client.consumers.get(stream, name)
    const consumer = await get().catch(async (error: unknown) => {
      if (!isApiError(error, apiCode.consumerNotFound)) throw error
      const { AckPolicy } = streams.modules.jetstream
      const fixed = { durable_name: name, ack_policy: AckPolicy.Explicit, max_deliver: -1 }
      await manager.consumers.add(stream, { ...fixed, ...settings, ack_wait: nanos(ackWait) })
      return await get()
    })
    const askedAt = performance.now()
    const { config, num_waiting, num_ack_pending } = await consumer.info(true)
    // Hosts that have ended may have left a longer one. Nobody relies on it.
    const isFree = num_waiting === 0 && num_ack_pending === 0
    const wanted = { ...settings, ack_wait: isFree ? nanos(ackWait) : Math.max(nanos(ackWait), config.ack_wait ?? 0) }
    const isAsWanted = Object.entries(wanted).every(([key, value]) => config[key as keyof ConsumerConfig] === value)
    if (!isAsWanted) await manager.consumers.update(stream, name, wanted)
    this.#see({ ...config, ...wanted }, askedAt)
    return consumer
  }

  /** Milliseconds, of a message that was sent after `sentAt`. */
  of(sentAt: number): number {
    if (performance.now() > this.#leasedUntil) return ackWait
    const before = this.#known.findLastIndex(({ at }) => at <= sentAt)
    let wait = this.#known[before]?.wait ?? ackWait
    for (const { wait: next, at } of this.#known.slice(before + 1)) {
      // Another host may have had it by then.
      if (next > wait && at - sentAt >= wait - margin) return wait
      wait = next
    }
    return wait
  }

  /** Milliseconds, of what the server sends now. */
  get last(): number {
    return this.#known.at(-1)!.wait
  }

  /** An order to raise it is on its way. */
  get isRaising(): boolean {
    return this.#raising !== undefined
  }

  /** Resolves when no order to raise it is on its way. */
  get raised(): Promise<unknown> {
    return this.#raising?.catch(() => {}) ?? Promise.resolve()
  }

  /** False: it is as long already. Rejects if the server does not change it. */
  async raise(wait: number): Promise<boolean> {
    while (this.#raising !== undefined) await this.raised
    if (this.last >= wait) return false
    this.#raising = this.#order(wait)
    try {
      return await this.#raising
    } finally {
      this.#raising = undefined
    }
  }

  /** Called again and again. Never rejects. */
  async look(): Promise<void> {
    const { streams, name } = this.#parts
    if (this.last === ackWait || this.#isChanging || performance.now() - this.#seen.at < lookInterval) return
    await this.#change(async () => {
      const askedAt = performance.now()
      this.#see((await streams.look(({ consumers }) => consumers.info(this.#streamName, name))).config, askedAt)
    })
  }

  async #order(wait: number): Promise<boolean> {
    const { streams, name } = this.#parts
    return await streams.aside(async ({ consumers }) => {
      const askedAt = performance.now()
      const { config } = await consumers.info(this.#streamName, name)
      this.#see(config, askedAt)
      if (this.last >= wait) return false
      await consumers.update(this.#streamName, name, { ack_wait: nanos(wait), description: '' })
      this.#see({ ack_wait: nanos(wait) }, askedAt)
      return true
    })
  }

  /** `askedAt`: the server has answered after that. */
  #see({ ack_wait, description }: SeenConfig, askedAt: number): void {
    this.#learn(ack_wait)
    const now = performance.now()
    const isEnding = description === ending
    if (!isEnding) this.#leasedUntil = Math.max(this.#leasedUntil, askedAt + lease)
    const isSame = this.#seen.isEnding === isEnding && now - this.#seen.at < mostBetween
    this.#seen = { isEnding, since: isSame ? this.#seen.since : now, at: now }
    if (this.last > ackWait) void this.#review()
  }

  /** Never rejects. */
  async #review(): Promise<void> {
    const { isEnding, since } = this.#seen
    const age = performance.now() - since
    if (this.#parts.pace.isSlow) {
      if (isEnding) await this.#change(() => this.#update({ description: '' }))
    } else if (!isEnding && age > quietTime) await this.#change(() => this.#update({ description: ending }))
    else if (isEnding && age > lease + leaseMargin)
      await this.#change(() => this.#update({ description: '', ack_wait: nanos(ackWait) }))
  }

  /** Unless another host has changed it meanwhile. */
  async #update(change: SeenConfig): Promise<void> {
    const { streams, name } = this.#parts
    const { isEnding } = this.#seen
    await streams.look(async ({ consumers }) => {
      const askedAt = performance.now()
      const { config } = await consumers.info(this.#streamName, name)
      if ((config.description === ending) !== isEnding) return
      await consumers.update(this.#streamName, name, change)
      this.#see({ ...config, ...change }, askedAt)
    })
  }

  /** One at a time. What fails is tried again after the next look. */
  async #change(work: () => Promise<void>): Promise<void> {
    if (this.#isChanging) return
    this.#isChanging = true
    await work().catch(() => {})
    this.#isChanging = false
  }

  get #streamName(): string {
    return this.#parts.streams.nameOf(this.#parts.stream)
  }

  #learn(nanoseconds = 0): void {
    const wait = Math.max(ackWait, nanoseconds / 1e6)
    if (wait === this.last) return
    this.#known.push({ wait, at: performance.now() })
    if (this.#known.length > mostKnown) this.#known.shift()
  }
}

/** Milliseconds. */
const margin = 100
/** Changes that are remembered. */
const mostKnown = 8
