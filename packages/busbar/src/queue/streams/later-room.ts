import type { QueueSettings } from '../../shared/queues.ts'
import type { ItemStreams } from './item-streams.ts'

/** Milliseconds that what a server has said of the stream is believed. */
const believed = 100

/** What the stream `later` holds, with the items that were accepted since the server was asked. */
interface Held {
  messages: number
  bytes: number
}

/**
 * Whether `later` has room for one more item with a delay. Such items come in by the stream
 * `ready`, so no server refuses them when `later` is full. They would stay in `ready`, where each
 * takes a place of its method's concurrency.
 */
export class LaterRoom {
  readonly #streams: ItemStreams
  readonly #settings: QueueSettings
  #held: Promise<Held> | undefined
  #askedAt = -Infinity

  constructor(streams: ItemStreams, settings: QueueSettings) {
    this.#streams = streams
    this.#settings = settings
  }

  /** Takes the room. `size`: bytes. Returns the limit that is reached instead, if one is. */
  async take(size: number): Promise<'maxDepth' | 'maxSize' | undefined> {
    const held = await this.#ask()
    const { maxDepth, maxSize } = this.#settings
    if (held.messages >= maxDepth) return 'maxDepth'
    if (held.bytes + size > maxSize) return 'maxSize'
    held.messages++
    held.bytes += size
    return undefined
  }

  #ask(): Promise<Held> {
    const now = performance.now()
    if (this.#held !== undefined && now - this.#askedAt < believed) return this.#held
    this.#askedAt = now
    const { manager } = this.#streams
    const asked = manager.streams.info(this.#streams.nameOf('later'))
    return (this.#held = asked.then(({ state: { messages, bytes } }) => ({ messages, bytes })))
  }
}
