import { fullPacket, maxWaiting } from './limits.ts'
import type { Packet, Pipe } from './pipe.ts'
import type { Carried } from './value.ts'

/**
 * Collects the frames of one turn and sends them as one packet: on both kinds of channel what costs is the message, not
 * what is in it (PEERS: 285,000 objects a second one by one, 485,000 as one list per turn, at half the CPU).
 */
export class Outbox {
  readonly #pipe: Pipe
  readonly #last: (() => readonly string[]) | undefined
  /** The packet that is being made. */
  #text = ''
  #bytes: Uint8Array[] = []
  #size = 0
  /** Full packets, for a peer that is behind. */
  readonly #waiting: { readonly packet: Packet; readonly size: number }[] = []
  #waitingSize = 0
  #isScheduled = false
  #hasSent = false
  #isBehind = false

  /** `last`: frames that go with whatever goes out. */
  constructor(pipe: Pipe, last?: () => readonly string[]) {
    this.#pipe = pipe
    this.#last = last
  }

  /** The other end does not take what was sent: who can wait should. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  /** More waits than a peer that is behind may cost. */
  get isFull(): boolean {
    return this.#waitingSize + this.#size > maxWaiting
  }

  /** How many bytes the packet has already: those of the next frame begin there. */
  get base(): number {
    return this.#bytes.length
  }

  push(frame: string, carried?: Carried): void {
    this.#text += this.#text === '' ? `[${frame}` : `,${frame}`
    this.#size += frame.length
    if (carried !== undefined)
      for (const bytes of carried.bytes) {
        this.#bytes.push(bytes)
        this.#size += bytes.byteLength
      }
    if (this.#size > fullPacket) this.#seal()
    else if (!this.#isScheduled) this.#schedule()
  }

  /** What there is, at once. */
  flush(): void {
    if (this.#text !== '') this.#seal()
  }

  drained(): void {
    this.#isBehind = false
    while (!this.#isBehind) {
      const next = this.#waiting.shift()
      if (next === undefined) return this.flush()
      this.#waitingSize -= next.size
      this.#send(next.packet)
    }
  }

  #seal(): void {
    for (const frame of this.#last?.() ?? []) this.#text += `,${frame}`
    const packet = { text: `${this.#text}]`, bytes: this.#bytes }
    const size = this.#size
    this.#text = ''
    this.#bytes = []
    this.#size = 0
    if (!this.#isBehind) return this.#send(packet)
    this.#waiting.push({ packet, size })
    this.#waitingSize += size
  }

  #send(packet: Packet): void {
    this.#isBehind = !this.#pipe.send(packet)
  }

  /** The first packet of a turn of the event loop goes in its next tick; whatever follows goes when the turn is over. */
  #schedule(): void {
    this.#isScheduled = true
    if (this.#hasSent) return
    this.#hasSent = true
    process.nextTick(this.#turn)
    setImmediate(this.#turnOver)
  }

  readonly #turnOver = (): void => {
    this.#hasSent = false
    if (this.#isScheduled) this.#turn()
  }

  readonly #turn = (): void => {
    this.#isScheduled = false
    if (!this.#isBehind) this.flush()
  }
}
