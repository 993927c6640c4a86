export type Chunk = Uint8Array | string

/** Controls where the data of a body comes from. */
export interface BodySupply {
  resume(): void
  abort(): void
}

/** Converts a complete body into a value. */
export type Conversion<T> = (chunks: readonly Chunk[]) => T

/** A byte stream transfers the buffer of each chunk, so a chunk needs a buffer of its own. */
export function ownBytes(chunk: Chunk): Uint8Array<ArrayBuffer> {
  return new Uint8Array(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
}

const byteOrderMark = '\ufeff'

/**
 * "UTF-8 decode" of the fetch standard: removes a byte order mark, replaces invalid bytes by
 * U+FFFD.
 */
export function toText(chunks: readonly Chunk[]): string {
  const text = decode(chunks)
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}

export function toJson(chunks: readonly Chunk[]): unknown {
  return JSON.parse(toText(chunks))
}

export function toBytes(chunks: readonly Chunk[]): Uint8Array<ArrayBuffer> {
  if (chunks.length === 1) return ownBytes(chunks[0]!)
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
  const whole = new Uint8Array(bytes.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const part of bytes) {
    whole.set(part, at)
    at += part.byteLength
  }
  return whole
}

export function toArrayBuffer(chunks: readonly Chunk[]): ArrayBuffer {
  return toBytes(chunks).buffer
}

function decode(chunks: readonly Chunk[]): string {
  if (chunks.length === 0) return ''
  const only = chunks.length === 1 ? chunks[0]! : undefined
  // Text that was never bytes needs no decoding, except for lone surrogates, which no encoder
  // sends.
  if (typeof only === 'string') return only.toWellFormed()
  if (only !== undefined) return Buffer.from(only.buffer, only.byteOffset, only.byteLength).toString()
  if (chunks.every((chunk) => typeof chunk === 'string')) return chunks.map((chunk) => chunk.toWellFormed()).join('')
  return Buffer.from(toBytes(chunks).buffer).toString()
}
