/**
 * The encoding of packets as bytes, for sockets:
 *
 *     u32 text length │ u32 number of parts │ u32 length of each part … │ text, UTF-8 │ parts …
 *
 * All numbers are little-endian.
 */
import { maxParts } from '../links/limits/limits.ts'
import { type Packet, ProtocolError } from '../links/packet-transport.ts'

/** Byte parts up to this total are copied behind the text. Larger ones are written separately. */
const copyUpTo = 16 * 1024

const word = 4

/** `before`: bytes to leave free at the start of the first piece. */
export function encodePacket({ text, bytes }: Packet, before = 0): [Buffer, ...Uint8Array[]] {
  const textLength = Buffer.byteLength(text)
  const start = before + word * (2 + bytes.length)
  const size = bytes.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const isCopied = size <= copyUpTo
  // May use the pool, because the kernel copies it.
  const first = Buffer.allocUnsafe(start + textLength + (isCopied ? size : 0))
  first.writeUInt32LE(textLength, before)
  first.writeUInt32LE(bytes.length, before + word)
  for (let at = 0; at < bytes.length; at++) first.writeUInt32LE(bytes[at]!.byteLength, before + word * (2 + at))
  first.write(text, start)
  if (!isCopied) return [first, ...bytes]
  let end = start + textLength
  for (const part of bytes) {
    first.set(part, end)
    end += part.byteLength
  }
  return [first]
}

/** Reassembles packets from slices of bytes. */
export class PacketReader {
  readonly #onPacket: (packet: Packet) => void
  #limit: number
  #slices: Buffer[] = []
  #size = 0
  /** Bytes that must have arrived before more can be decoded. */
  #wanted = 2 * word

  /** `limit`: the largest packet, in bytes. */
  constructor(limit: number, onPacket: (packet: Packet) => void) {
    this.#limit = limit
    this.#onPacket = onPacket
  }

  set limit(bytes: number) {
    this.#limit = bytes
  }

  /** Bytes of a packet that is not complete yet. */
  get waiting(): number {
    return this.#size
  }

  /** Throws {@link ProtocolError} as soon as the head of a packet is invalid. */
  push(slice: Buffer): void {
    this.#slices.push(slice)
    this.#size += slice.length
    if (this.#size < this.#wanted) return
    // Joining at every slice would copy a large packet once per slice.
    let rest = this.#slices.length === 1 ? slice : Buffer.concat(this.#slices, this.#size)
    while (rest.length >= (this.#wanted = this.#want(rest))) {
      const packet = decodePacket(rest.subarray(0, this.#wanted))
      rest = rest.subarray(this.#wanted)
      this.#onPacket(packet)
    }
    this.#slices = rest.length === 0 ? [] : [rest]
    this.#size = rest.length
  }

  /** The bytes that the head takes, or the whole packet once the head is complete. */
  #want(bytes: Buffer): number {
    if (bytes.length < 2 * word) return 2 * word
    const parts = bytes.readUInt32LE(word)
    if (parts > maxParts) throw new ProtocolError(`sent a packet of ${parts} parts`)
    const head = word * (2 + parts)
    let size = head + bytes.readUInt32LE(0)
    if (bytes.length >= head) for (let at = 2; at < 2 + parts; at++) size += bytes.readUInt32LE(word * at)
    if (size > this.#limit) throw new ProtocolError(`sent a packet of ${size} bytes, more than ${this.#limit}`)
    return bytes.length < head ? head : size
  }
}

function decodePacket(packet: Buffer): Packet {
  const parts = packet.readUInt32LE(word)
  const start = word * (2 + parts)
  let end = start + packet.readUInt32LE(0)
  const text = packet.toString('utf8', start, end)
  const bytes: Uint8Array[] = []
  for (let at = 0; at < parts; at++) {
    const length = packet.readUInt32LE(word * (2 + at))
    // Copies, because all parts arrive in one buffer.
    bytes.push(new Uint8Array(packet.subarray(end, end + length)))
    end += length
  }
  return { text, bytes }
}
