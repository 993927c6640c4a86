import type { ErrorRecord } from '../../contract/errors.ts'
import type { Channel } from './link.ts'

type Chunk = string | Uint8Array

/** What goes in one piece: bytes, or characters. */
export const pieceSize = 64 * 1024

/** A body, or one direction of a connection, on its way into a channel: as far as the other side's credit goes. */
export class Outflow {
  readonly #channel: Channel
  /** Told when everything has gone out after {@link write} said to wait. */
  readonly #onDrain: () => void
  #waiting: unknown[] = []
  #size = 0
  /** The credit is used up: the next word is the channel's. */
  #blocked = false
  #writerWaits = false
  #state: 'open' | 'ending' | 'ended' = 'open'
  #last: () => void = () => {}

  constructor(channel: Channel, onDrain: () => void) {
    this.#channel = channel
    this.#onDrain = onDrain
  }

  /** Everything was said, though it may not have arrived. */
  get ended(): boolean {
    return this.#state === 'ended'
  }

  /** What waits here: bytes, or characters. */
  get size(): number {
    return this.#size
  }

  /** `chunk` is the link's from now on. False: wait, as behind a socket whose buffer is full. */
  write(chunk: Chunk): boolean {
    if (this.#state !== 'open') return true
    if (chunk.length <= pieceSize) this.#put(typeof chunk === 'string' ? chunk : exact(chunk))
    else this.#putLarge(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    this.#writerWaits = this.#blocked && this.#size > 0
    return !this.#writerWaits
  }

  /** A value that is no part of the body. */
  say(value: unknown): void {
    if (this.#state === 'open') this.#put(value)
  }

  /** Once more, as long as the first word has not gone out: then the second takes its place. */
  end(value?: unknown): void {
    this.#endBy(() => this.#channel.end(value))
  }

  /** Behind all that was written. */
  fail(error: ErrorRecord): void {
    this.#endBy(() => this.#channel.fail(error))
  }

  /** For the channel's `onDrain`. */
  drained(): void {
    this.#blocked = false
    while (this.#waiting.length > 0 && !this.#blocked) this.#send(this.#take())
    this.#finish()
    if (this.#waiting.length > 0 || !this.#writerWaits) return
    this.#writerWaits = false
    this.#onDrain()
  }

  #endBy(last: () => void): void {
    if (this.#state === 'ended') return
    this.#state = 'ending'
    this.#last = last
    this.#finish()
  }

  #put(value: unknown): void {
    if (!this.#blocked) return this.#send(value)
    this.#waiting.push(value)
    this.#size += sizeOf(value)
  }

  #putLarge(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += pieceSize) this.#put(exact(bytes.subarray(from, from + pieceSize)))
  }

  #send(value: unknown): void {
    this.#blocked = !this.#channel.data(value)
  }

  /** Credit is counted in values: small pieces that wait go together. */
  #take(): unknown {
    const first = this.#waiting.shift()
    let size = sizeOf(first)
    this.#size -= size
    const more: unknown[] = []
    for (let next = this.#waiting[0]; sameKind(first, next); next = this.#waiting[0]) {
      const added = sizeOf(next)
      if (size + added > pieceSize) break
      size += added
      this.#size -= added
      more.push(this.#waiting.shift())
    }
    return more.length === 0 ? first : joined([first, ...more])
  }

  #finish(): void {
    if (this.#state !== 'ending' || this.#waiting.length > 0) return
    this.#state = 'ended'
    this.#last()
  }
}

/** Bytes with nothing around them: what is behind a slice would cross to the other side with it. */
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
  return exact(Buffer.concat(parts as Uint8Array[]))
}
