import type { RepeatedLines } from '../../shared/output/repeated-lines.ts'
import { isHeld, longestWait, waitFor } from './ack-wait.ts'
import type { ConsumerWait } from './consumer-wait.ts'
import { decodeItem } from './item-message.ts'
import type { ItemStreams } from './item-streams.ts'
import type { NetworkPace } from './network-pace.ts'

/** A message that was read when another host may have had it. */
interface LateMessage {
  readonly message: { readonly data: Uint8Array; readonly subject: string }
  /** It has left the server after this (`performance.now()`). */
  readonly heldAt: number
}

export interface LateItemsParts {
  readonly streams: ItemStreams
  readonly wait: ConsumerWait
  readonly pace: NetworkPace
  readonly lines: RepeatedLines
}

/** Gives the items of a consumer more time if the network is slow, and says so. */
export class LateItems {
  readonly #parts: LateItemsParts

  constructor(parts: LateItemsParts) {
    this.#parts = parts
  }

  /** Never rejects. */
  async raise({ message, heldAt }: LateMessage): Promise<void> {
    const { streams, wait, pace } = this.#parts
    const age = performance.now() - heldAt
    const target = streams.targetOf(message.subject)
    const item = `queue ${target}: item ${decodeItem(message.data)?.id} of ${message.data.length} bytes`
    if (!streams.isSlow(heldAt))
      return this.#warn(
        `${item} was read ${seconds(age)} after NATS had sent it, and another host may have it. If none has, it comes again`,
        `${target} read`,
      )
    pace.wasSlow(age)
    const took = `${item} took ${seconds(age)} from NATS to this host, whose network is slow`
    if (!isHeld(heldAt, longestWait))
      this.#warn(
        `${took}. It may take ${seconds(longestWait)}, and does not run here. Keep large inputs elsewhere, or lower concurrency`,
        `${target} too slow`,
      )
    const next = waitFor(age)
    try {
      if (await wait.raise(next))
        this.#warn(
          `${took}. Items of ${target} may take ${seconds(next)} from now on, and those of a host that dies wait for as long`,
          `${target} slow`,
        )
    } catch (error) {
      this.#warn(`${took}, and cannot have more time: ${(error as Error).message}`, `${target} not raised`)
    }
  }

  #warn(line: string, kind: string): void {
    this.#parts.lines.add('warn', line, kind)
  }
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)} s`
}
