import type { ErrorRecord } from '../../../contract/errors.ts'
import type { OneAppUse } from '../../../shared/calls/app-use.ts'
import { hopelessAppUnread, maxAppCalls, maxAppInputs, maxAppUnread } from './limits.ts'

/** Counts what the calls of a peer take on all of its links, and refuses what is too much. */
export class PeerUse {
  readonly #use: OneAppUse
  readonly #label: string
  #packet: HeldPacket

  constructor(use: OneAppUse, label: string) {
    this.#use = use
    this.#label = label
    this.#packet = new HeldPacket(use, 0)
  }

  /** The packet that is being read. */
  get packet(): HeldPacket {
    return this.#packet
  }

  /** The next calls and values are those of a packet of this size. */
  reads(size: number): void {
    this.#packet = new HeldPacket(this.#use, size)
  }

  /** Why the peer may not make the call that has arrived. */
  get refusal(): ErrorRecord | undefined {
    if (this.#use.total('calls') >= maxAppCalls) return this.#full(`${maxAppCalls} calls in flight`)
    return this.#isBeyond(maxAppInputs) ? this.#full(`calls in flight with ${inMiB(maxAppInputs)} of input`) : undefined
  }

  /** Why the value that has arrived is not taken: it fails its call. */
  get refusalOfValue(): ErrorRecord | undefined {
    const most = 2 * maxAppInputs
    return this.#isBeyond(most) ? this.#full(`calls in flight with ${inMiB(most)} of input`) : undefined
  }

  /** What waits for the peer on all its links, for messages, if no further value may. */
  get tooMuchUnread(): string | undefined {
    const unread = this.#use.total('unread') * 1024
    return unread > maxAppUnread ? `${inMiB(unread)} on all its links` : undefined
  }

  /** Whether even the errors of refused values are too many. */
  get isHopeless(): boolean {
    return this.#use.total('unread') * 1024 > hopelessAppUnread
  }

  /** A packet waits for the peer, or, with -1, no longer. */
  waits(by: 1 | -1, size: number): void {
    this.#use.add('unread', by * inKiB(size))
  }

  /** A call has begun. */
  open(): CallInputs {
    return new CallInputs(this.#use, this)
  }

  #isBeyond(most: number): boolean {
    return (this.#use.total('inputs') + this.#packet.added) * 1024 > most
  }

  #full(what: string): ErrorRecord {
    const message = `${this.#label} has ${what} here and may make no more calls`
    return { code: 'RESOURCE_EXHAUSTED', message, data: { retryAfter: 1 } }
  }
}

/** The inputs of a call in flight. */
export class CallInputs {
  readonly #use: OneAppUse
  readonly #peer: PeerUse
  /** Of the call itself, and of the values that it has not consumed. */
  #own: HeldPacket | undefined
  #values: HeldPacket[] | undefined = undefined

  constructor(use: OneAppUse, peer: PeerUse) {
    this.#use = use
    this.#peer = peer
    this.#own = peer.packet
    this.#own.hold()
    use.add('calls', 1)
  }

  /** A value has arrived. */
  arrived(): void {
    if (this.#own === undefined) return
    const { packet } = this.#peer
    packet.hold()
    const values = (this.#values ??= [])
    values.push(packet)
  }

  consumed(count: number): void {
    const taken = this.#values?.splice(0, count) ?? []
    for (const packet of taken) packet.release()
  }

  /** The call is over. */
  end(): void {
    if (this.#own === undefined) return
    this.#own.release()
    this.#own = undefined
    if (this.#values !== undefined) this.consumed(this.#values.length)
    this.#use.add('calls', -1)
  }
}

/**
 * A packet counts for as long as a call needs any part of it. What each part takes is not known,
 * since all are parsed at once.
 */
class HeldPacket {
  readonly #use: OneAppUse
  readonly #size: number
  #holders = 0

  constructor(use: OneAppUse, size: number) {
    this.#use = use
    this.#size = inKiB(size)
  }

  /** KiB that holding it would add. */
  get added(): number {
    return this.#holders === 0 ? this.#size : 0
  }

  hold(): void {
    if (this.#holders++ === 0) this.#use.add('inputs', this.#size)
  }

  release(): void {
    if (--this.#holders === 0) this.#use.add('inputs', -this.#size)
  }
}

function inKiB(bytes: number): number {
  return Math.ceil(bytes / 1024)
}

function inMiB(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`
}
