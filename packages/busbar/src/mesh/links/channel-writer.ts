import type { ErrorRecord } from '../../contract/errors.ts'
import type { Channel } from './link.ts'

type Chunk = string | Uint8Array

/** The size of one piece: bytes, or characters. */
export const pieceSize = 64 * 1024

/**
 * Writes a body, or one direction of a connection, into a channel. Buffers while the peer's credit
 * is used up.
 */
export class ChannelWriter {
  readonly #channel: Channel
  /** Called when the buffer is empty after {@link write} returned false. */
  readonly #onDrain: () => void
  #buffered: unknown[] = []
  #size = 0
  /** The credit is used up, until the channel's `onDrain`. */
  #blocked = false
  #writerWaits = false
  #state: 'open' | 'ending' | 'ended' = 'open'
  #sendLast: () => void = () => {}

  constructor(channel: Channel, onDrain: () => void) {
    this.#channel = channel
    this.#onDrain = onDrain
  }

  /** Everything was sent, though it may not have arrived. */
  get ended(): boolean {
    return this.#state === 'ended'
  }

  /** What is buffered: bytes, or characters. */
  get size(): number {
    return this.#size
  }

  /** The link owns `chunk` from now on. False: wait for `onDrain`, as with a socket. */
  write(chunk: Chunk): boolean {
    if (this.#state !== 'open') return true
    if (chunk.length <= pieceSize) this.#put(chunk)
    else this.#putLarge(chunk)
    this.#writerWaits = this.#blocked && this.#size > 0
    return !this.#writerWaits
  }

  /** Writes a value that is not part of the body. */
  writeValue(value: unknown): void {
    if (this.#state === 'open') this.#put(value)
  }

  /** A second call replaces the first one that has not been sent yet. */
  end(value?: unknown): void {
    this.#endBy(() => this.#channel.end(value))
  }

  /** Fails the call after all that was written. */
  fail(error: ErrorRecord): void {
    this.#endBy(() => this.#channel.fail(error))
  }

  /** Call it on the channel's `onDrain`. */
  drained(): void {
    this.#blocked = false
    while (this.#buffered.length > 0 && !this.#blocked) this.#send(this.#take())
    this.#finish()
    if (this.#buffered.length > 0 || !this.#writerWaits) return
    this.#writerWaits = false
    this.#onDrain()
  }

  #endBy(sendLast: () => void): void {
    if (this.#state === 'ended') return
    this.#state = 'ending'
    this.#sendLast = sendLast
    this.#finish()
  }

  #put(value: unknown): void {
    if (!this.#blocked) return this.#send(value)
    this.#buffered.push(value)
    this.#size += sizeOf(value)
  }

  /** Pieces that wait are parts of the chunk, and no copies. */
  #putLarge(chunk: Chunk): void {
    for (let from = 0; from < chunk.length;) {
      const end = endOfPiece(chunk, from)
      this.#put(typeof chunk === 'string' ? chunk.slice(from, end) : chunk.subarray(from, end))
      from = end
    }
  }

  #send(value: unknown): void {
    this.#blocked = !this.#channel.data(value instanceof Uint8Array ? exact(value) : value)
  }

  /** Joins small pieces, because credit counts values. */
  #take(): unknown {
    const first = this.#buffered.shift()
    let size = sizeOf(first)
    this.#size -= size
    const more: unknown[] = []
    for (let next = this.#buffered[0]; sameKind(first, next); next = this.#buffered[0]) {
      const added = sizeOf(next)
      if (size + added > pieceSize) break
      size += added
      this.#size -= added
      more.push(this.#buffered.shift())
    }
    return more.length === 0 ? first : joined([first, ...more])
  }

  #finish(): void {
    if (this.#state !== 'ending' || this.#buffered.length > 0) return
    this.#state = 'ended'
    this.#sendLast()
  }
}

/** Not between the two halves of a character. */
function endOfPiece(chunk: Chunk, from: number): number {
  const end = Math.min(from + pieceSize, chunk.length)
  const isSplit = typeof chunk === 'string' && end < chunk.length && (chunk.charCodeAt(end) & 0xfc00) === 0xdc00
  return isSplit ? end - 1 : end
}

/** Bytes that cover their whole buffer. The rest of a slice's buffer would be sent along. */
export function exact(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer) return bytes
  return new Uint8Array(bytes)
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0
}

function sameKind(one: unknown, other: unknown): boolean {
  return typeof one === 'string' ? typeof other === 'string' : one instanceof Uint8Array && other instanceof Uint8Array
}

function joined(parts: unknown[]): Chunk {
  if (typeof parts[0] === 'string') return (parts as string[]).join('')
  return Buffer.concat(parts as Uint8Array[])
}
