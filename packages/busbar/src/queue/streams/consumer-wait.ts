import { apiCode, isApiError, type Consumer, type ConsumerConfig } from '../../shared/cluster/jetstream.ts'
import { ackWait, nanos } from './ack-wait.ts'
import type { ItemStreams } from './item-streams.ts'
import type { ItemStream } from './stream-settings.ts'

/**
 * How long the server waits for a sign of life of a consumer's messages: {@link ackWait}, or longer
 * once a host has raised it because messages took longer to arrive. All hosts share the consumer,
 * and any of them may raise it at any time. A message that was sent less than {@link ackWait}
 * before this host knows of it had not gone to another host, and has the longer wait from then on.
 */
export class ConsumerWait {
  readonly #streams: ItemStreams
  readonly #stream: ItemStream
  readonly #name: string
  /** What this host knew, and since when. */
  readonly #known = [{ wait: ackWait, since: -Infinity }]
  #isRaising = false

  constructor(streams: ItemStreams, stream: ItemStream, name: string) {
    this.#streams = streams
    this.#stream = stream
    this.#name = name
    if (stream === 'ready') streams.watchWait(name, (wait) => this.#learn(wait))
  }

  /** Creates the consumer, or applies the settings of this host. */
  async open(settings: Partial<ConsumerConfig>): Promise<Consumer> {
    const { client, manager } = this.#streams
    const stream = this.#streams.nameOf(this.#stream)
    const get = (): Promise<Consumer> => client.consumers.get(stream, this.#name)
    const consumer = await get().catch(async (error: unknown) => {
      if (!isApiError(error, apiCode.consumerNotFound)) throw error
      const { AckPolicy } = this.#streams.modules.jetstream
      const fixed = { durable_name: this.#name, ack_policy: AckPolicy.Explicit, max_deliver: -1 }
      await manager.consumers.add(stream, { ...fixed, ...settings, ack_wait: nanos(ackWait) })
      return await get()
    })
    const { config, num_waiting, num_ack_pending } = await consumer.info(true)
    // Hosts that have ended may have left a longer one. Nobody relies on it.
    const isFree = num_waiting === 0 && num_ack_pending === 0
    const wanted = { ...settings, ack_wait: isFree ? nanos(ackWait) : Math.max(nanos(ackWait), config.ack_wait ?? 0) }
    const isAsWanted = Object.entries(wanted).every(([key, value]) => config[key as keyof ConsumerConfig] === value)
    if (!isAsWanted) await manager.consumers.update(stream, this.#name, wanted)
    this.#learn(wanted.ack_wait)
    return consumer
  }

  /** Milliseconds, of a message that was sent after `sentAt`. */
  of(sentAt: number): number {
    const first = this.#known.findLastIndex(({ since }) => since <= sentAt)
    return first < 0 ? ackWait : Math.min(...this.#known.slice(first).map(({ wait }) => wait))
  }

  /**
   * False: it is as long already, or is being raised. Rejects if the server does not change it.
   */
  async raise(wait: number): Promise<boolean> {
    if (this.#isRaising || this.#last >= wait) return false
    this.#isRaising = true
    try {
      return await this.#streams.aside(async ({ consumers }) => {
        const stream = this.#streams.nameOf(this.#stream)
        const { config } = await consumers.info(stream, this.#name)
        this.#learn(config.ack_wait)
        if (this.#last >= wait) return false
        await consumers.update(stream, this.#name, { ack_wait: nanos(wait) })
        this.#learn(nanos(wait))
        return true
      })
    } finally {
      this.#isRaising = false
    }
  }

  get #last(): number {
    return this.#known.at(-1)!.wait
  }

  #learn(nanoseconds = 0): void {
    const wait = Math.max(ackWait, nanoseconds / 1e6)
    if (wait === this.#last) return
    this.#known.push({ wait, since: performance.now() - (ackWait - margin) })
    if (this.#known.length > mostKnown) this.#known.shift()
  }
}

/** Milliseconds. */
const margin = 100
/** Changes that are remembered. */
const mostKnown = 8
