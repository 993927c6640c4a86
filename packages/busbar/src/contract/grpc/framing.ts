/**
 * gRPC's messages on a stream of bytes: a flag, the length in four bytes, and the message
 * (github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md). Used by everything that carries the
 * bytes: the portable gateway, the client, and the native entrance.
 */

/** Bytes before each message. */
export const headLength = 5
const compressedFlag = 1

export interface FramedMessage {
  readonly bytes: Uint8Array
  readonly compressed: boolean
}

/** A flag that does not exist, a message beyond the limit, or an end in the middle of one. */
export class FramingError extends Error {
  readonly reason: 'malformed' | 'too-large'

  constructor(reason: 'malformed' | 'too-large', message: string) {
    super(message)
    this.reason = reason
  }
}

/** One message with its head. */
export function frame(message: Uint8Array, compressed = false): Uint8Array {
  const framed = new Uint8Array(headLength + message.length)
  framed.set(message, headLength)
  return frameInPlace(framed, compressed)
}

/** Writes the head of a message that has room for it at its start. */
export function frameInPlace(framed: Uint8Array, compressed = false): Uint8Array {
  const length = framed.length - headLength
  framed[0] = compressed ? compressedFlag : 0
  framed[1] = length >>> 24
  framed[2] = length >>> 16
  framed[3] = length >>> 8
  framed[4] = length
  return framed
}

/**
 * Whether the bytes are exactly one message without compression, of at most `maxSize` bytes. For
 * all others {@link MessageDecoder} finds out what they are.
 */
export function isOnlyMessage(bytes: Uint8Array, maxSize: number): boolean {
  const size = bytes.length - headLength
  if (size < 0 || size > maxSize || bytes[0] !== 0) return false
  return ((bytes[1]! << 24) | (bytes[2]! << 16) | (bytes[3]! << 8) | bytes[4]!) >>> 0 === size
}

/**
 * Collects messages from chunks of any size. Holds at most one message and the chunk that
 * completes it, and refuses a message by its head: a length is not believed before its bytes are
 * allowed.
 */
export class MessageDecoder {
  readonly #maxSize: number
  #chunks: Uint8Array[] = []
  #length = 0

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** The messages that the chunk completes. Throws {@link FramingError}. */
  push(chunk: Uint8Array): FramedMessage[] {
    if (chunk.length > 0) this.#chunks.push(chunk)
    this.#length += chunk.length
    const messages: FramedMessage[] = []
    for (let size = this.#nextSize(); size !== undefined; size = this.#nextSize()) {
      const framed = this.#take(headLength + size)
      messages.push({ bytes: framed.subarray(headLength), compressed: framed[0] === compressedFlag })
    }
    return messages
  }

  /** Throws {@link FramingError} if the bytes end within a message. */
  end(): void {
    if (this.#length > 0) throw new FramingError('malformed', 'the request ends in the middle of a message')
  }

  /** The size of the next message if it is complete. */
  #nextSize(): number | undefined {
    if (this.#length < headLength) return undefined
    if (this.#chunks[0]!.length < headLength) this.#chunks = [joined(this.#chunks, this.#length)]
    const [first] = this.#chunks as [Uint8Array]
    if (first[0]! > compressedFlag)
      throw new FramingError('malformed', `a message begins with ${first[0]}, which is no flag of gRPC`)
    const size = ((first[1]! << 24) | (first[2]! << 16) | (first[3]! << 8) | first[4]!) >>> 0
    if (size > this.#maxSize)
      throw new FramingError('too-large', `a message has ${size} bytes, and ${this.#maxSize} are allowed`)
    return this.#length >= headLength + size ? size : undefined
  }

  #take(count: number): Uint8Array {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : joined(this.#chunks, this.#length)
    const rest = all.subarray(count)
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#length = rest.length
    return all.subarray(0, count)
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 }

/**
 * Milliseconds of a `grpc-timeout`, which is up to eight digits and a unit (doc/PROTOCOL-HTTP2.md).
 * Undefined if the text is not one.
 */
export function parseTimeout(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits) * units[unit!]!
}

export function formatTimeout(milliseconds: number): string {
  const left = Math.max(0, milliseconds)
  if (left < 100_000) return `${Math.ceil(left * 1000)}u`.replace(/^(\d{9,})u$/, () => `${Math.ceil(left)}m`)
  if (left < 100_000_000) return `${Math.ceil(left)}m`
  return `${Math.min(99_999_999, Math.ceil(left / 1000))}S`
}
