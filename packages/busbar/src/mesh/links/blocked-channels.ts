import type { LiveChannel } from './live-channel.ts'
import type { SendQueue } from './send-queue.ts'

/** Channels that go on in one turn. What they send shows whether more should. */
const channelsPerTurn = 16

/**
 * Channels that wait for a slow peer. Each may send a large value when it goes on, and does so a
 * tick later: all at once would exceed what may wait.
 */
export class BlockedChannels {
  readonly #sendQueue: SendQueue
  readonly #channels = new Set<LiveChannel>()
  #isScheduled = false

  constructor(sendQueue: SendQueue) {
    this.#sendQueue = sendQueue
  }

  add(channel: LiveChannel): void {
    this.#channels.add(channel)
  }

  delete(channel: LiveChannel): void {
    if (this.#channels.size > 0) this.#channels.delete(channel)
  }

  clear(): void {
    this.#channels.clear()
  }

  /** Call it when the peer has read. Those that wait longest go on first. */
  unblock(): void {
    if (this.#isScheduled) return
    let left = channelsPerTurn
    for (const channel of this.#channels) {
      if (this.#sendQueue.needsDrain) return
      if (left-- === 0) return this.#schedule()
      this.#channels.delete(channel)
      channel.unblock()
    }
  }

  #schedule(): void {
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.unblock()
    })
  }
}
