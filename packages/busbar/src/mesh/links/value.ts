import { fromTagged } from '../../contract/value/decode.ts'
import { toTagged } from '../../contract/value/encode.ts'
import { Uncarriable } from '../../contract/value/kinds.ts'
import { maxValue } from './limits.ts'

/** A value as it goes over links, which shares nothing with what was given. Its bytes go with it: it is sent once. */
export class Carried {
  /** Undefined for undefined. */
  readonly text: string | undefined
  readonly isTagged: boolean
  readonly bytes: readonly Uint8Array[]

  constructor(text: string | undefined, isTagged: boolean, bytes: readonly Uint8Array[]) {
    this.text = text
    this.isTagged = isTagged
    this.bytes = bytes
  }

  /** For those who may have to send it again. */
  copy(): Carried {
    if (this.bytes.length === 0) return this
    const copies = this.bytes.map((part) => new Uint8Array(part))
    return new Carried(this.text, this.isTagged, copies)
  }
}

const none: readonly Uint8Array[] = []
const nothing = new Carried(undefined, false, none)

/** Throws {@link Uncarriable} for what no call carries. */
export function carry(value: unknown): Carried {
  if (value === undefined) return nothing
  if (value instanceof Carried) return value
  const bytes: Uint8Array[] = []
  const tagged = toTagged(value, bytes)
  const text = JSON.stringify(tagged)
  if (text.length + sizeOf(bytes) > maxValue) throw tooLarge()
  return new Carried(text, tagged !== value, bytes.length === 0 ? none : bytes)
}

/** As {@link carry}, but bytes as a whole are taken over and not copied, where they have a buffer of their own. */
export function carryOver(value: unknown): Carried {
  if (!(value instanceof Uint8Array) || value.byteLength > maxValue) return carry(value)
  return new Carried('{"$bytes":0}', true, [isWhole(value) ? toPlainBytes(value) : new Uint8Array(value)])
}

/** `bytes`: those of the packet from `base` on. Throws {@link Uncarriable} for what no peer may send. */
export function uncarry(json: unknown, bytes: readonly Uint8Array[], base: number): unknown {
  return fromTagged(json, base === 0 ? bytes : bytes.slice(base))
}

/** All of a buffer that may be handed over. */
function isWhole({ buffer, byteLength }: Uint8Array): boolean {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && !buffer.detached
}

/** A Buffer is one only where it was made. */
function toPlainBytes(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer)
}

function sizeOf(bytes: readonly Uint8Array[]): number {
  let size = 0
  for (const part of bytes) size += part.byteLength
  return size
}

function tooLarge(): Uncarriable {
  return new Uncarriable([], `more than the ${maxValue / 1024 / 1024} MiB that one value may have; send it as a stream`)
}
