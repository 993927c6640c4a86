import type { WireType } from '@bufbuild/protobuf/wire'

/** Longer texts are encoded by the platform. A loop is faster before that. */
const longestLooped = 127
/** Bytes of the longest number. */
const longest = 10
const encoder = new TextEncoder()

/**
 * Writes protobuf's wire format (protobuf.dev/programming-guides/encoding) into memory that it
 * keeps. The same bytes as the `BinaryWriter` of `@bufbuild/protobuf`, whose texts of more than 32
 * characters cost a view each, and whose result is a copy.
 */
export class WireWriter {
  #bytes = new Uint8Array(1024)
  #view = new DataView(this.#bytes.buffer)
  #at = 0
  /** Where the lengths of the parts that are open go. */
  readonly #open: number[] = []

  /** A copy of what was written. The next message begins. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.lend().slice()
  }

  /** What was written, until the next message is. */
  lend(): Uint8Array<ArrayBuffer> {
    const written = this.#bytes.subarray(0, this.#at)
    this.#at = this.#open.length = 0
    return written
  }

  /** Leaves room for bytes that are 0. */
  skip(length: number): this {
    this.#reserve(length)
    for (let left = length; left > 0; left--) this.#bytes[this.#at++] = 0
    return this
  }

  tag(number: number, wireType: WireType): this {
    return this.uint32(((number << 3) | wireType) >>> 0)
  }

  /** From 0 to 2 ** 32 - 1. */
  uint32(value: number): this {
    this.#reserve(longest)
    const bytes = this.#bytes
    let at = this.#at
    let rest = value
    for (; rest > 0x7f; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80
    bytes[at++] = rest
    this.#at = at
    return this
  }

  /** A negative one has ten bytes, as 64 bits have. */
  int32(value: number): this {
    return value < 0 ? this.int64(value) : this.uint32(value)
  }

  /** A safe integer. */
  int64(value: number): this {
    this.#reserve(longest)
    let high = Math.floor(value / 2 ** 32) >>> 0
    let low = value >>> 0
    for (; high > 0; high >>>= 7) {
      this.#bytes[this.#at++] = (low & 0x7f) | 0x80
      low = ((high << 25) | (low >>> 7)) >>> 0
    }
    return this.uint32(low)
  }

  bool(value: boolean): this {
    return this.uint32(value ? 1 : 0)
  }

  double(value: number): this {
    this.#reserve(8)
    this.#view.setFloat64(this.#at, value, true)
    this.#at += 8
    return this
  }

  bytes(value: Uint8Array): this {
    this.uint32(value.length)
    this.#reserve(value.length)
    this.#bytes.set(value, this.#at)
    this.#at += value.length
    return this
  }

  string(value: string): this {
    const { length } = value
    if (length > longestLooped) return this.#encoded(value)
    this.#reserve(length + 1)
    const bytes = this.#bytes
    let at = this.#at
    bytes[at++] = length
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index)
      if (code > 0x7f) return this.#encoded(value)
      bytes[at++] = code
    }
    this.#at = at
    return this
  }

  /** A part begins whose length comes before it. */
  fork(): this {
    this.#open.push(this.#at)
    // Most parts are short: their length has one byte.
    return this.skip(1)
  }

  /** The part ends. */
  join(): this {
    const start = this.#open.pop()!
    const length = this.#at - start - 1
    const size = sizeOf(length)
    if (size > 1) {
      this.#reserve(size - 1)
      this.#bytes.copyWithin(start + size, start + 1, this.#at)
    }
    this.#at = start
    this.uint32(length)
    this.#at += length
    return this
  }

  /** No character of a text has more than three bytes. */
  #encoded(value: string): this {
    this.#reserve(value.length * 3 + 5)
    const expected = sizeOf(value.length)
    const start = this.#at
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(start + expected))
    const size = sizeOf(written)
    if (size > expected) this.#bytes.copyWithin(start + size, start + expected, start + expected + written)
    this.uint32(written)
    this.#at += written
    return this
  }

  #reserve(length: number): void {
    const needed = this.#at + length
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.#bytes)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}

/** Bytes of a length. */
function sizeOf(length: number): number {
  let size = 1
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) size++
  return size
}
