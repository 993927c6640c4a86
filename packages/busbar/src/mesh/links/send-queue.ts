// The global of the same name is an accessor, which takes a sixth of the time of a reading.
import { performance } from 'node:perf_hooks'
import type { EncodedValue } from './frames/encoded-value.ts'
import { callFrame, frameTypes, headTextOf, replyFrame } from './frames/frame-encoder.ts'
import { maxQueued, packetFrames, packetSize, packetTime } from './limits/limits.ts'
import type { CallHead } from './link.ts'
import { PacketText } from './frames/packet-text.ts'
import type { Packet, PacketTransport } from './packet-transport.ts'

export interface SendQueueParts {
  /** Returns frames to add to each packet. */
  readonly trailing?: (() => readonly string[]) | undefined
  /** Whether nothing more may wait for the peer: characters and bytes. Default: never. */
  readonly isHopeless?: ((unread: number) => boolean) | undefined
  /** More waited for the peer than that: so much. */
  readonly overflowed?: (unread: number) => void
  /** A packet of this size waits for the peer, or, with -1, no longer. */
  readonly waits?: ((by: 1 | -1, size: number) => void) | undefined
}

/**
 * Sends the frames of one turn of the event loop as one packet. Each message costs, whatever it
 * carries (measured over a MessagePort: 285,000 objects a second one by one, 485,000 as one list
 * per turn, at half the CPU).
 */
export class SendQueue {
  readonly #transport: PacketTransport
  readonly #parts: SendQueueParts
  /** The packet that is being filled. */
  readonly #text = new PacketText()
  #bytes: Uint8Array[] = []
  #size = 0
  #frames = 0
  /** Complete packets for a slow peer. */
  readonly #queued: { readonly packet: Packet; readonly size: number }[] = []
  #queuedSize = 0
  #isScheduled = false
  #isInTurn = false
  /** Turns that still wait for their end. */
  #spreadTurns = 0
  /** Turns in a row whose frames came in one tick. */
  #calmTurns = 0
  /** Packets that are sent without a look at how their turn goes on. */
  #unwatched = 0
  /** When the first frame of the packet was added, as `performance.now()` gives it. */
  #began: number | undefined
  /** Of the packet, at the end of the turn's first tick, if that has not sent it. */
  #sizeOfTick = 0
  #needsDrain = false
  #isOverfull = false
  /** The head of the last call, and its text. */
  #head: CallHead | undefined
  #headText = ''

  constructor(transport: PacketTransport, parts: SendQueueParts = {}) {
    this.#transport = transport
    this.#parts = parts
  }

  /** Backpressure: the peer is slow, and senders should wait. */
  get needsDrain(): boolean {
    return this.#needsDrain
  }

  /** Characters and bytes that wait. */
  get unread(): number {
    return this.#queuedSize + this.#size
  }

  /** More waits than one packet has. */
  get isLong(): boolean {
    return this.#queuedSize + this.#size > packetSize
  }

  /** More is queued than {@link maxQueued} allows. */
  get isFull(): boolean {
    return this.unread > maxQueued
  }

  /** The index in the packet that the next frame's first byte part gets. */
  get nextPart(): number {
    return this.#bytes.length
  }

  /** Returns the characters and bytes that it adds. */
  push(frame: string, encoded?: EncodedValue): number {
    let size = frame.length
    this.#text.add(frame)
    if (encoded !== undefined)
      for (const bytes of encoded.bytes) {
        this.#bytes.push(bytes)
        size += bytes.byteLength
      }
    return this.#added(size)
  }

  pushCall(id: number, head: CallHead, ended: boolean, input: EncodedValue): number {
    const text = ended ? this.#textOf(head) : headTextOf(head, false)
    // Each call has metadata of its own, which its service may change.
    if (!ended || !input.isPlain || head.metadata !== undefined)
      return this.push(callFrame(id, text, input, this.nextPart), input)
    return this.#added(this.#text.addToRun(frameTypes.calls, id, text, input))
  }

  /** Of a call that sends no data: many in a row have one head. */
  #textOf(head: CallHead): string {
    if (head === this.#head) return this.#headText
    this.#head = head
    return (this.#headText = headTextOf(head, true))
  }

  pushReply(id: number, last: boolean, value: EncodedValue): number {
    if (!last || !value.isPlain) return this.push(replyFrame(id, last, value, this.nextPart), value)
    return this.#added(this.#text.addToRun(frameTypes.replies, id, '', value))
  }

  /** Sends the current packet at once. */
  flush(): void {
    if (!this.#text.isEmpty) this.#seal()
  }

  /** Call it when the transport has drained. */
  onDrain(): void {
    this.#needsDrain = false
    while (!this.#needsDrain) {
      const next = this.#queued.shift()
      if (next === undefined) return this.flush()
      this.#waits(-1, next.size)
      this.#send(next.packet)
    }
  }

  /** The link has ended: what waits is not sent. */
  drop(): void {
    for (const { size } of this.#queued.splice(0)) this.#waits(-1, size)
  }

  #seal(): void {
    for (const frame of this.#parts.trailing?.() ?? []) this.#text.add(frame)
    const packet = { text: this.#text.take(), bytes: this.#bytes }
    const size = this.#size
    this.#bytes = []
    this.#size = this.#sizeOfTick = this.#frames = 0
    this.#began = undefined
    if (!this.#needsDrain) return this.#send(packet)
    this.#queued.push({ packet, size })
    this.#waits(1, size)
  }

  #added(size: number): number {
    this.#size += size
    this.#frames++
    if (this.unread > packetSize && this.#parts.isHopeless?.(this.unread) === true) this.#overflow()
    else if (this.#size > packetSize || this.#frames >= packetFrames || (this.#spreadTurns > 0 && this.#isLate()))
      this.#seal()
    else if (!this.#isScheduled) this.#schedule()
    return size
  }

  /** The link ends in the next tick, and until then nothing is kept. */
  #overflow(): void {
    const { unread } = this
    this.#text.take()
    this.#bytes = []
    this.drop()
    this.#size = this.#frames = 0
    if (!this.#isOverfull) process.nextTick(() => this.#parts.overflowed?.(unread))
    this.#isOverfull = true
  }

  #waits(by: 1 | -1, size: number): void {
    this.#queuedSize += by * size
    this.#parts.waits?.(by, size)
  }

  /** Of the packet of a spread turn. */
  #isLate(): boolean {
    if (this.#needsDrain) return false
    const now = performance.now()
    this.#began ??= now
    return now - this.#began > packetTime
  }

  #send(packet: Packet): void {
    this.#needsDrain = !this.#transport.send(packet)
  }

  /**
   * In the next tick if the frames of a turn come in one tick, as those of typed calls do: the peer
   * then works while this side does the rest of its turn. At the end of the turn if they come in
   * several, as those of HTTP clients do: a packet for the first one alone took a third of the
   * processor time of such a call over TLS.
   */
  #schedule(): void {
    this.#isScheduled = true
    if (this.#isInTurn) return
    if (this.#unwatched > 0) {
      this.#unwatched--
      return process.nextTick(this.#flushScheduled)
    }
    this.#isInTurn = true
    process.nextTick(this.#endTick)
    setImmediate(this.#endTurn)
  }

  readonly #endTick = (): void => {
    if (this.#spreadTurns === 0) return this.#flushScheduled()
    this.#spreadTurns--
    this.#sizeOfTick = this.#size
  }

  readonly #endTurn = (): void => {
    this.#isInTurn = false
    // Frames that came after the first tick.
    const isSpread = this.#isScheduled && this.#size > this.#sizeOfTick
    if (isSpread) this.#spreadTurns = rememberedTurns
    this.#calmTurns = isSpread ? 0 : this.#calmTurns + 1
    if (this.#calmTurns >= rememberedTurns) this.#unwatched = unwatchedPackets
    if (!this.#isScheduled) return
    this.#sizeOfTick = 0
    this.#flushScheduled()
  }

  readonly #flushScheduled = (): void => {
    this.#isScheduled = false
    if (!this.#needsDrain) this.flush()
  }
}

/** Turns after which a sender whose frames come in one tick is believed. */
const rememberedTurns = 16
/**
 * Packets of such a sender between two looks: an immediate for each took 3 to 4 % of the processor
 * time of both ends, with 64 calls in a packet.
 */
const unwatchedPackets = 7
