import type { MessagePort, Transferable } from 'node:worker_threads'
import { maxUnderWay } from '../links/limits.ts'
import { goneSilent, type Packet, type Pipe, type PipeListener } from '../links/pipe.ts'

/** Bytes from which handing a buffer over costs less than copying it. */
const transferFrom = 2048

/** Of what came, after which the sender is told; a part of what may be under way. */
const tellEvery = maxUnderWay / 4

/** A packet without bytes, one with bytes, or how much of what was sent has come. */
type Message = string | readonly [text: string, ...bytes: Uint8Array[]] | number

/**
 * Between two threads: a packet is one message. As a string where it is nothing else, which V8 copies without looking at
 * it. A port takes whatever it is given and keeps it until the other thread has a moment, so the two count.
 */
export function threadPipe(port: MessagePort): Pipe {
  return new ThreadPipe(port)
}

class ThreadPipe implements Pipe {
  readonly #port: MessagePort
  #underWay = 0
  #came = 0

  constructor(port: MessagePort) {
    this.#port = port
  }

  open(listener: PipeListener): void {
    // Told once, and not at all for a port that was closed before.
    this.#port.once('close', () => listener.onClose(goneSilent))
    this.#port.once('messageerror', () => this.#port.close())
    this.#port.on('message', (message: unknown) => {
      if (!isMessage(message)) return
      if (typeof message === 'number') return this.#told(message, listener)
      this.#count(message)
      listener.onPacket(typeof message === 'string' ? { text: message, bytes: none } : fromList(message))
    })
  }

  send(packet: Packet): boolean {
    const { text, bytes } = packet
    this.#underWay += text.length
    if (bytes.length === 0) this.#port.postMessage(text)
    else this.#sendBytes(packet)
    return this.#underWay < maxUnderWay
  }

  close(): void {
    this.#port.close()
  }

  #sendBytes({ text, bytes }: Packet): void {
    const handedOver: Transferable[] = []
    for (const { byteLength, buffer } of bytes) {
      this.#underWay += byteLength
      if (byteLength >= transferFrom) handedOver.push(buffer as ArrayBuffer)
    }
    try {
      this.#port.postMessage([text, ...bytes], handedOver)
    } catch {
      // Somebody gave the same buffer twice: one mistake must not take along what else is in the packet.
      this.#port.postMessage([text, ...bytes.map((part) => new Uint8Array(part))])
    }
  }

  #told(taken: number, listener: PipeListener): void {
    if (!(taken > 0 && taken <= this.#underWay)) return
    const wasBehind = this.#underWay >= maxUnderWay
    this.#underWay -= taken
    if (wasBehind && this.#underWay < maxUnderWay) listener.onDrain()
  }

  #count(message: Exclude<Message, number>): void {
    this.#came += sizeOf(message)
    if (this.#came < tellEvery) return
    this.#port.postMessage(this.#came)
    this.#came = 0
  }
}

const none: readonly Uint8Array[] = []

/**
 * A program of the other thread can find the port, `process._getActiveHandles()` lists it, and post what it likes. Such a
 * message must not throw here, since that would end this thread for another one's fault.
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
