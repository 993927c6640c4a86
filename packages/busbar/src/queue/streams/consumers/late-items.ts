import { setTimeout as sleep } from 'node:timers/promises'
import type { RepeatedLines } from '../../../shared/output/repeated-lines.ts'
import { isHeld, longestWait, waitFor } from '../ack-wait.ts'
import type { ConsumerWait } from './consumer-wait.ts'
import { decodeItem } from '../item-message.ts'
import type { ItemStreams } from '../item-streams.ts'
import type { NetworkPace } from '../network-pace.ts'
import type { ItemStream } from '../stream-settings.ts'

/** A message that was read when another host may have had it. */
interface LateMessage {
  readonly message: { readonly data: Uint8Array; readonly subject: string }
  /** It has left the server after this (`performance.now()`). */
  readonly heldAt: number
}

export interface LateItemsParts {
  readonly streams: ItemStreams
  readonly stream: ItemStream
  /** Of the consumer. */
  readonly subject: string
  readonly wait: ConsumerWait
  readonly pace: NetworkPace
  readonly lines: RepeatedLines
}

/** Their wait is raised when they have been on their way for a third of it. */
const mostPart = 3
/** Milliseconds. A message may have left the server as much later than its host knows. */
const imprecision = 1_500

/** Gives the items of a consumer more time if the network is slow, and says so. */
export class LateItems {
  readonly #parts: LateItemsParts
  /** Their wait was raised, and no line has named an item since. */
  #isUnnamed = false

  constructor(parts: LateItemsParts) {
    this.#parts = parts
  }

  /**
   * What the server has sent has been on its way for `lateness` milliseconds. If items only had
   * more time once they have come, the first ones would have to come twice. Never rejects.
   */
  async expect(lateness: number): Promise<void> {
    const { streams, stream, subject, wait, pace } = this.#parts
    if (wait.isRaising || wait.last >= Math.min(longestWait, mostPart * lateness)) return
    pace.wasSlow(lateness)
    const next = waitFor(lateness)
    const which = stream === 'later' ? 'that wait for their time' : `of ${streams.targetOf(subject)}`
    const slow = `queue: what NATS sends to this host has been on its way for ${seconds(lateness)}: the network is slow`
    try {
      if (!(await wait.raise(next))) return
      this.#isUnnamed = true
      this.#warn(`${slow}. Items ${which} may take ${seconds(next)} from now on, and ${ofTheDead}`, `${which} early`)
    } catch (error) {
      this.#warn(`${slow}. Items ${which} cannot have more time: ${(error as Error).message}`, `${which} not raised`)
    }
  }

  /** It has come late, and in time. */
  hasCome({ message, heldAt }: LateMessage): void {
    if (!this.#isUnnamed) return
    this.#isUnnamed = false
    this.#warn(`${this.#took(message, performance.now() - heldAt)}, whose network is slow`, 'named')
  }

  /** Never rejects. */
  async raise({ message, heldAt }: LateMessage): Promise<void> {
    const { streams, wait, pace } = this.#parts
    const age = performance.now() - heldAt
    const target = streams.targetOf(message.subject)
    const comesAgain = 'another host may have it. If none has, it comes again'
    if (!streams.pings.isSlow(heldAt))
      return this.#warn(
        `${this.#nameOf(message)} was read ${seconds(age)} after NATS had sent it, and ${comesAgain}`,
        `${target} read`,
      )
    pace.wasSlow(age)
    const took = `${this.#took(message, age)}, whose network is slow`
    if (!isHeld(heldAt, longestWait))
      this.#warn(
        `${took}. It may take ${seconds(longestWait)}, and does not run here. Keep large inputs elsewhere, or lower concurrency`,
        `${target} too slow`,
      )
    await wait.raised
    if (wait.last >= Math.min(longestWait, mostPart * age))
      return this.#warn(`${took}, and ${comesAgain}`, `${target} late`)
    const next = waitFor(age)
    // It would wait for the longer time, too, if the server has not given it up yet.
    await sleep(Math.max(0, heldAt + wait.last + imprecision - performance.now()))
    try {
      if (await wait.raise(next))
        this.#warn(
          `${took}. Items of ${target} may take ${seconds(next)} from now on, and ${ofTheDead}`,
          `${target} slow`,
        )
    } catch (error) {
      this.#warn(`${took}, and cannot have more time: ${(error as Error).message}`, `${target} not raised`)
    }
  }

  #took(message: LateMessage['message'], age: number): string {
    return `${this.#nameOf(message)} took ${seconds(age)} from NATS to this host`
  }

  #nameOf({ data, subject }: LateMessage['message']): string {
    const target = this.#parts.streams.targetOf(subject)
    return `queue ${target}: item ${decodeItem(data)?.id} of ${data.length} bytes`
  }

  #warn(line: string, kind: string): void {
    this.#parts.lines.add('warn', line, kind)
  }
}

const ofTheDead = 'those of a host that dies wait for as long'

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)} s`
}
