import { fromTagged } from '../../../contract/value/decode.ts'
import { toTagged } from '../../../contract/value/encode.ts'
import { SerialisationError } from '../../../contract/value/serialisable.ts'
import { maxByteStrings, maxDigits, maxElements, maxNames, maxTags, maxValue } from '../limits/limits.ts'
import type { FlatValue, Shaper } from './shaper.ts'
import { scanText, type TextLimits } from './text-scan.ts'
import { LeafReader } from './value-shape.ts'

/**
 * A value as links carry it. It shares nothing with the original. Sending it transfers its bytes,
 * so it is sent once.
 */
export class EncodedValue {
  readonly isTagged: boolean
  readonly bytes: readonly Uint8Array[]
  /** Set if the value may share a frame with others of its shape. */
  readonly flat: FlatValue | undefined
  /** Of the method that it belongs to. */
  readonly shaper: Shaper | undefined
  #text: string | undefined

  constructor(
    text: string | undefined,
    isTagged: boolean,
    bytes: readonly Uint8Array[],
    flat?: FlatValue,
    shaper?: Shaper,
  ) {
    this.#text = text
    this.isTagged = isTagged
    this.bytes = bytes
    this.flat = flat
    this.shaper = shaper
  }

  /** JSON. Undefined for the value undefined. */
  get text(): string | undefined {
    if (this.#text === undefined && this.flat !== undefined)
      this.#text = JSON.stringify(new LeafReader(this.flat.leaves).read(this.flat.shape))
    return this.#text
  }

  /** A frame holds it as it is. */
  get isPlain(): boolean {
    return this.flat !== undefined || (this.#text !== undefined && !this.isTagged)
  }

  /** For callers that may have to send it again. */
  copy(): EncodedValue {
    if (this.bytes.length === 0) return this
    const copies = this.bytes.map((part) => new Uint8Array(part))
    return new EncodedValue(this.text, this.isTagged, copies)
  }
}

const none: readonly Uint8Array[] = []
const nothing = new EncodedValue(undefined, false, none)

/**
 * Throws {@link SerialisationError} for values that calls do not support. `shaper`: of the method
 * that it belongs to.
 */
export function encodeValue(value: unknown, shaper?: Shaper): EncodedValue {
  if (value === undefined) return nothing
  if (value instanceof EncodedValue) return value
  const flat = shaper?.flatten(value)
  if (flat !== undefined) return new EncodedValue(undefined, false, none, flat, shaper)
  const bytes: Uint8Array[] = []
  const tagged = toTagged(value, bytes)
  const text = JSON.stringify(tagged)
  if (text.length + sizeOf(bytes) > maxValue) throw tooLarge()
  return new EncodedValue(text, tagged !== value, bytes.length === 0 ? none : bytes, undefined, shaper)
}

/**
 * Like {@link encodeValue}, but transfers bytes that cover their whole buffer instead of copying
 * them.
 */
export function encodeTransferred(value: unknown): EncodedValue {
  if (!(value instanceof Uint8Array) || value.byteLength > maxValue) return encodeValue(value)
  return new EncodedValue('{"$bytes":0}', true, [isWhole(value) ? toPlainBytes(value) : new Uint8Array(value)])
}

/** Of one value for another app. */
const limits: TextLimits = {
  depth: Infinity,
  frames: Infinity,
  elements: maxElements,
  names: maxNames,
  tags: maxTags,
  byteStrings: maxByteStrings,
  digits: maxDigits,
}

/** A value that calls carry within an app. */
export class TooMuchForOtherApp extends SerialisationError {}

/** Throws {@link TooMuchForOtherApp} if another app would not take the value. */
export function checkForOtherApp(value: EncodedValue): void {
  if (value.bytes.length > maxByteStrings) throw tooMany('byteStrings')
  // A flat value is small, and has no text yet. An element takes two characters, and a name five.
  const text = value.flat === undefined ? value.text : undefined
  if (text === undefined || text.length < Math.min(2 * maxElements, 5 * maxNames)) return
  const { exceeds } = scanText(text, limits)
  if (exceeds !== undefined) throw tooMany(exceeds)
}

/**
 * The value's byte parts begin at `bytes[base]`. They are taken from there, since a value may name
 * each of them once: one that is named often would be copied as often when the value is sent on.
 * Throws {@link SerialisationError} for invalid input.
 */
export function decodeValue(json: unknown, bytes: readonly Uint8Array[], base: number): unknown {
  const left = bytes as (Uint8Array | undefined)[]
  return fromTagged(json, {
    get: (at) => {
      const part = left[base + at]
      if (part !== undefined) left[base + at] = undefined
      return part
    },
  })
}

/** True if the bytes cover their whole buffer, and that can be transferred. */
function isWhole({ buffer, byteLength }: Uint8Array): boolean {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && !buffer.detached
}

/** Other threads get a `Buffer` as a plain Uint8Array. */
function toPlainBytes(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer)
}

function sizeOf(bytes: readonly Uint8Array[]): number {
  let size = 0
  for (const part of bytes) size += part.byteLength
  return size
}

function tooLarge(): SerialisationError {
  return new SerialisationError(
    [],
    `more than the ${maxValue / 1024 / 1024} MiB that one value may have; send it as a stream`,
  )
}

function tooMany(of: keyof TextLimits): SerialisationError {
  const hint = of === 'names' ? 'send it as a stream, or as lists of names and values' : 'send it as a stream'
  const what = `${limits[of]} ${limited[of]}`
  return new TooMuchForOtherApp([], `more than the ${what} that one value for another app may have; ${hint}`)
}

const limited = {
  depth: 'levels',
  frames: 'frames',
  elements: 'elements',
  names: 'different names of fields',
  tags: 'values that JSON does not have',
  byteStrings: 'byte strings',
  digits: 'digits of bigints',
} as const satisfies Record<keyof TextLimits, string>
