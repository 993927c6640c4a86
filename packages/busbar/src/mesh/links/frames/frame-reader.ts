import { BusbarError, type ErrorRecord } from '../../../contract/errors.ts'
import { countAt, type Frame, framesOf, headOf, isEnded, recordAt, valueAt, valuesAt } from './frame-decoder.ts'
import { frameTypes } from './frame-encoder.ts'
import { maxFrames } from '../limits/limits.ts'
import type { CallHead } from '../link.ts'
import type { LiveChannel } from '../live-channel.ts'
import { type Packet, ProtocolError } from '../packet-transport.ts'

/** What the frames of a peer act on. */
export interface FrameReceiver {
  readonly isClosed: boolean
  /** What follows is from a packet that takes about so many bytes. */
  reads(size: number): void
  /** `id`: the peer's number of the call. Undefined if it is over. */
  callOf(id: number): LiveChannel | undefined
  /** The call has existed. */
  hasKnown(id: number): boolean
  /** The peer opens a call. */
  onCall(id: number, head: CallHead, value: unknown, ended: boolean): void
  onPing(): void
  onPong(): void
  onPeerDrains(): void
  /** `last`: of this side’s calls, the last one that the peer has read. Infinity: not said. */
  onPeerCloses(reason: ErrorRecord, last: number): void
  onLoad(frame: Frame): void
  onMove(): void
}

/** Reads the frames of a link's packets, and passes each to what it is for. */
export class FrameReader {
  readonly #receiver: FrameReceiver
  readonly #isForeign: boolean
  /** Frames that the packet may still have. */
  #left = 0
  /** Of the frame that is passed on. Its last frame ends it before its handler runs. */
  #current: LiveChannel | undefined

  /** `isForeign`: the peer belongs to another app. */
  constructor(receiver: FrameReceiver, isForeign: boolean) {
    this.#receiver = receiver
    this.#isForeign = isForeign
  }

  /**
   * Throws {@link ProtocolError} for what a peer may not send. What another app sends must not end
   * the process by any other exception: its link ends instead.
   */
  read(packet: Packet): void {
    try {
      this.#read(packet)
    } catch (error) {
      if (!this.#isForeign || error instanceof ProtocolError) throw error
      throw new ProtocolError(`sent what cannot be handled: ${BusbarError.from(error).message}`)
    } finally {
      this.#current = undefined
    }
  }

  #read(packet: Packet): void {
    this.#left = this.#isForeign ? maxFrames : Infinity
    const { frames, size } = framesOf(packet, this.#isForeign)
    this.#receiver.reads(size)
    for (const frame of frames) {
      // An earlier frame may have closed the link.
      if (this.#receiver.isClosed) return
      if (!Array.isArray(frame)) throw new ProtocolError('sent a frame that is not a list')
      this.#take(1)
      if (frame[0] === frameTypes.calls) this.#readCalls(frame, packet)
      else if (frame[0] === frameTypes.replies) this.#readReplies(frame, packet)
      else this.#readFrame(frame, packet)
    }
  }

  #readCalls(frame: Frame, packet: Packet): void {
    const head = headOf(frame)
    const ended = isEnded(frame)
    let id = countAt(frame, 1)
    const values = valuesAt(frame, 10, packet)
    this.#take(values.length)
    for (const value of values) {
      if (this.#receiver.isClosed) return
      try {
        this.#receiver.onCall(id, head, value, ended)
      } catch (error) {
        this.#failed(error, this.#receiver.callOf(id))
      }
      id++
    }
  }

  #readReplies(frame: Frame, packet: Packet): void {
    let id = frame[1] as number
    const values = valuesAt(frame, 2, packet)
    // Only a callee replies so, whose numbers are negative.
    if (id >= 0 || values.length === 0) throw new ProtocolError('sent a reply that answers nothing')
    for (const value of values) {
      if (this.#receiver.isClosed) return
      try {
        this.#channel(id)?.onReply(value, true)
      } catch (error) {
        this.#failed(error, this.#current)
      }
      id--
    }
  }

  /** Of what the packet may have. */
  #take(count: number): void {
    this.#left -= count
    if (this.#left < 0) throw new ProtocolError('sent a packet with too many frames')
  }

  #readFrame(frame: Frame, packet: Packet): void {
    this.#current = undefined
    try {
      this.#pass(frame, packet)
    } catch (error) {
      this.#failed(error, frame[0] === frameTypes.call ? this.#receiver.callOf(frame[1] as number) : this.#current)
    }
  }

  /** Handlers do not throw. If one does, only its own call fails. */
  #failed(error: unknown, channel: LiveChannel | undefined): void {
    if (error instanceof ProtocolError || channel === undefined) throw error
    channel.abort(BusbarError.from(error).toRecord())
  }

  #pass(frame: Frame, packet: Packet): void {
    const receiver = this.#receiver
    switch (frame[0]) {
      case frameTypes.call:
        return receiver.onCall(countAt(frame, 1), headOf(frame), valueAt(frame, 10, packet), isEnded(frame))
      case frameTypes.reply:
        return this.#channel(frame[1])?.onReply(valueAt(frame, 3, packet), frame[2] === 1)
      case frameTypes.data:
        return this.#channel(frame[1])?.onData(valueAt(frame, 2, packet))
      case frameTypes.end:
        return this.#channel(frame[1])?.onEnd(valueAt(frame, 2, packet))
      case frameTypes.error:
        return this.#channel(frame[1])?.onError(recordAt(frame, 3, packet), frame[2] === 1)
      case frameTypes.cancel:
        if ((frame[1] as number) < 0) throw new ProtocolError('cancelled a call that it answers')
        return this.#channel(frame[1])?.onCancel(recordAt(frame, 2, packet))
      case frameTypes.credit:
        return this.#channel(frame[1])?.onCredit(countAt(frame, 2))
      case frameTypes.ping:
        return receiver.onPing()
      case frameTypes.pong:
        return receiver.onPong()
      case frameTypes.drain:
        return receiver.onPeerDrains()
      case frameTypes.close:
        return receiver.onPeerCloses(recordAt(frame, 1, packet), frame.length > 3 ? countAt(frame, 3) : Infinity)
      case frameTypes.load:
        return receiver.onLoad(frame)
      case frameTypes.move:
        return receiver.onMove()
      default:
        throw new ProtocolError(`sent a frame of unknown type ${JSON.stringify(frame[0])}`)
    }
  }

  /** Undefined for a call that is over: the frame was in transit. */
  #channel(id: unknown): LiveChannel | undefined {
    if (!Number.isSafeInteger(id)) throw new ProtocolError('sent a frame without a call number')
    const channel = this.#receiver.callOf(id as number)
    if (channel === undefined && !this.#receiver.hasKnown(id as number))
      throw new ProtocolError('sent a frame of an unknown call')
    this.#current = channel
    return channel
  }
}
