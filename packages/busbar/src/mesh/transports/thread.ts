import type { MessagePort, Transferable } from 'node:worker_threads'
import { maxInTransit } from '../links/limits/limits.ts'
import {
  closedUnexpectedly,
  type Packet,
  type PacketTransport,
  type PacketTransportListener,
} from '../links/packet-transport.ts'

/** From this size on, transferring a buffer costs less than copying it. */
const transferFrom = 2048

/** Received bytes after which the sender gets an acknowledgement. */
const acknowledgeEvery = maxInTransit / 4

/** A packet without byte parts, a packet with them, or an acknowledgement of received bytes. */
type Message = string | readonly [text: string, ...bytes: Uint8Array[]] | number

/**
 * Between two threads, each packet is one message. One without byte parts is a string, which V8
 * copies without inspecting it. A port queues messages without limit, so both sides count bytes for
 * backpressure.
 */
export function threadTransport(port: MessagePort): PacketTransport {
  return new ThreadTransport(port)
}

class ThreadTransport implements PacketTransport {
  readonly #port: MessagePort
  #inTransit = 0
  #received = 0

  constructor(port: MessagePort) {
    this.#port = port
  }

  open(listener: PacketTransportListener): void {
    // Emitted once, and never for a port that was closed before.
    this.#port.once('close', () => listener.onClose(closedUnexpectedly))
    this.#port.once('messageerror', () => this.#port.close())
    this.#port.on('message', (message: unknown) => {
      if (!isMessage(message)) return
      if (typeof message === 'number') return this.#onAcknowledged(message, listener)
      this.#count(message)
      listener.onPacket(typeof message === 'string' ? { text: message, bytes: none } : fromList(message))
    })
  }

  send(packet: Packet): boolean {
    const { text, bytes } = packet
    this.#inTransit += text.length
    if (bytes.length === 0) this.#port.postMessage(text)
    else this.#sendBytes(packet)
    return this.#inTransit < maxInTransit
  }

  close(): void {
    this.#port.close()
  }

  #sendBytes({ text, bytes }: Packet): void {
    const transferred: Transferable[] = []
    for (const { byteLength, buffer } of bytes) {
      this.#inTransit += byteLength
      if (byteLength >= transferFrom) transferred.push(buffer as ArrayBuffer)
    }
    try {
      this.#port.postMessage([text, ...bytes], transferred)
    } catch {
      // The same buffer was passed twice. Copy: one mistake must not lose the other frames of the
      // packet.
      this.#port.postMessage([text, ...bytes.map((part) => new Uint8Array(part))])
    }
  }

  #onAcknowledged(count: number, listener: PacketTransportListener): void {
    if (!(count > 0 && count <= this.#inTransit)) return
    const neededDrain = this.#inTransit >= maxInTransit
    this.#inTransit -= count
    if (neededDrain && this.#inTransit < maxInTransit) listener.onDrain()
  }

  #count(message: Exclude<Message, number>): void {
    this.#received += sizeOf(message)
    if (this.#received < acknowledgeEvery) return
    this.#port.postMessage(this.#received)
    this.#received = 0
  }
}

const none: readonly Uint8Array[] = []

/**
 * A program in the other thread can find the port by `process._getActiveHandles()` and post
 * anything. That must not throw here: it would end this thread.
 */
function isMessage(message: unknown): message is Message {
  if (typeof message === 'string' || typeof message === 'number') return true
  if (!Array.isArray(message) || typeof message[0] !== 'string') return false
  return message.every((part, index) => index === 0 || part instanceof Uint8Array)
}

function fromList([text, ...bytes]: readonly [string, ...Uint8Array[]]): Packet {
  return { text, bytes }
}

function sizeOf(message: Exclude<Message, number>): number {
  if (typeof message === 'string') return message.length
  let size = 0
  for (const part of message) size += part.length
  return size
}
