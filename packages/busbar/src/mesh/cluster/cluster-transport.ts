/**
 * Packets over NATS: a stream of bytes in numbered messages.
 *
 *     u8 kind │ u32 number │ bytes
 *
 * `data`: a slice of the encoded packets, at most as long as the servers allow. `ack`: so many
 * bytes were read since the last one, as u32. `close`. Numbers are little-endian and count up from
 * 1, of each side. NATS delivers at most once: a number that is missing ends the link.
 */
import { maxPacket } from '../links/limits/limits.ts'
import {
  type Packet,
  type PacketTransport,
  type PacketTransportListener,
  ProtocolError,
} from '../links/packet-transport.ts'
import type { IncompletePackets } from '../transports/incomplete-packets.ts'
import { encodePacket, PacketReader } from '../transports/packet-codec.ts'
import { ackAfter, SendWindow } from './send-window.ts'

const kinds = { data: 1, ack: 2, close: 3 } as const
const headSize = 5

/** Bytes of a message. Longer ones would delay those of other links over a slow network. */
const longestMessage = 64 * 1024

export interface ClusterTransportParts {
  /** Sends to the other end. Undefined until that is known. */
  publish: ((message: Uint8Array) => void) | undefined
  /** Bytes of one message. */
  maxMessage: number
  /** Of all links of the connection. */
  readonly incomplete: IncompletePackets
  readonly closed: () => void
}

type State =
  | { readonly is: 'waiting'; readonly arrived: Packet[] }
  | { readonly is: 'open'; readonly listener: PacketTransportListener }
  /** `reason`: undefined for an orderly close. */
  | { readonly is: 'closed'; readonly reason: string | undefined }

export class ClusterTransport implements PacketTransport {
  readonly #parts: ClusterTransportParts
  readonly #reader = new PacketReader(maxPacket, (packet) => this.#take(packet))
  #state: State = { is: 'waiting', arrived: [] }
  /** Slices that wait for the window. */
  readonly #queue: Uint8Array[] = []
  readonly #window = new SendWindow()
  #needsDrain = false
  #lastSent = 0
  #lastRead = 0
  #unacknowledged = 0

  constructor(parts: ClusterTransportParts) {
    this.#parts = parts
  }

  open(listener: PacketTransportListener): void {
    const before = this.#state
    if (before.is === 'closed') return process.nextTick(() => listener.onClose(before.reason))
    this.#state = { is: 'open', listener }
    if (before.is === 'waiting') for (const packet of before.arrived) listener.onPacket(packet)
  }

  send(packet: Packet): boolean {
    if (this.#state.is === 'closed') return true
    const [first, ...others] = encodePacket(packet, headSize)
    if (others.length === 0 && first.length <= this.#messageSize && this.#mayPublish) this.#publishData(first)
    else this.#enqueue([first.subarray(headSize), ...others])
    this.#needsDrain = this.#queue.length > 0
    return !this.#needsDrain
  }

  close(): void {
    if (this.#state.is === 'closed') return
    // The peer may still read what waits.
    for (const slice of this.#queue.splice(0)) this.#publish(kinds.data, slice)
    this.#publish(kinds.close, none)
    this.#end(undefined)
  }

  /** `reason`: a predicate whose subject is the peer. */
  fail(reason: string): void {
    if (this.#state.is === 'closed') return
    this.#publish(kinds.close, none)
    this.#end(reason)
  }

  receive(message: Uint8Array): void {
    if (this.#state.is === 'closed') return
    try {
      this.#read(Buffer.from(message.buffer, message.byteOffset, message.byteLength))
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.fail(error.message)
    }
  }

  #read(message: Buffer): void {
    if (message.length < headSize) throw new ProtocolError('sent a message that is too short')
    const number = message.readUInt32LE(1)
    if (number !== (this.#lastRead + 1) >>> 0)
      throw new ProtocolError(`has lost messages on the way (number ${number} after ${this.#lastRead})`)
    this.#lastRead = number
    const body = message.subarray(headSize)
    switch (message.readUInt8(0)) {
      case kinds.data:
        this.#reader.push(body)
        if (this.#state.is === 'open' && this.#reader.waiting > 0) this.#state.listener.onPart()
        // What has arrived may have ended the link.
        if (this.#state.is !== 'closed') this.#parts.incomplete.set(this, this.#reader.waiting)
        return this.#acknowledge(body.length)
      case kinds.ack:
        if (body.length !== 4) throw new ProtocolError('sent a malformed acknowledgement')
        return this.#acknowledged(body.readUInt32LE(0))
      case kinds.close:
        return this.#end(undefined)
      default:
        throw new ProtocolError('sent a message of unknown kind')
    }
  }

  #acknowledge(size: number): void {
    this.#unacknowledged += size
    if (this.#unacknowledged < ackAfter || this.#state.is === 'closed') return
    const body = Buffer.allocUnsafe(4)
    body.writeUInt32LE(this.#unacknowledged)
    this.#unacknowledged = 0
    this.#publish(kinds.ack, body)
  }

  #acknowledged(size: number): void {
    if (!this.#window.acknowledged(size)) throw new ProtocolError('has acknowledged more than it was sent')
    this.#pump()
    if (!this.#needsDrain || this.#queue.length > 0 || this.#state.is !== 'open') return
    this.#needsDrain = false
    this.#state.listener.onDrain()
  }

  #enqueue(pieces: readonly Uint8Array[]): void {
    const size = this.#messageSize - headSize
    for (const piece of pieces)
      for (let from = 0; from < piece.length; from += size) this.#queue.push(piece.subarray(from, from + size))
    this.#pump()
  }

  #pump(): void {
    while (this.#queue.length > 0 && this.#window.isOpen) {
      const slice = this.#queue.shift()!
      this.#window.sent(slice.length)
      this.#publish(kinds.data, slice)
    }
  }

  get #mayPublish(): boolean {
    return this.#queue.length === 0 && this.#window.isOpen
  }

  get #messageSize(): number {
    return Math.min(this.#parts.maxMessage, longestMessage)
  }

  /** `message`: with room for its head. Most packets are one message, and are not copied then. */
  #publishData(message: Buffer): void {
    this.#window.sent(message.length - headSize)
    this.#number(kinds.data, message)
  }

  #publish(kind: number, body: Uint8Array): void {
    const message = Buffer.allocUnsafe(headSize + body.length)
    message.set(body, headSize)
    this.#number(kind, message)
  }

  #number(kind: number, message: Buffer): void {
    message[0] = kind
    this.#lastSent = (this.#lastSent + 1) >>> 0
    message.writeUInt32LE(this.#lastSent, 1)
    this.#parts.publish?.(message)
  }

  #take(packet: Packet): void {
    if (this.#state.is === 'open') this.#state.listener.onPacket(packet)
    else if (this.#state.is === 'waiting') this.#state.arrived.push(packet)
  }

  #end(reason: string | undefined): void {
    const before = this.#state
    this.#state = { is: 'closed', reason }
    this.#queue.length = 0
    this.#parts.incomplete.remove(this)
    this.#parts.closed()
    if (before.is === 'open') before.listener.onClose(reason)
  }
}

/** True for the last message of a link. */
export function isClose(message: Uint8Array): boolean {
  return message[0] === kinds.close
}

const none = new Uint8Array(0)
