/**
 * The format of the records in a batch, which `crates/entrance/src/worker/record.rs` describes:
 * 32-bit words, then bytes.
 */
import type { AddressInfo } from 'node:net'

/** The version of this format and of the add-on's classes. A binary with another is not used. */
export const recordFormat = 17

/** To a worker. */
export const requestKind = 1
export const bodyKind = 2
export const bodyEndKind = 3
export const creditKind = 4
export const closedKind = 5
export const clientEndedKind = 6

/** From a worker. */
export const dataReply = 1
export const creditReply = 2
export const endReply = 3
export const destroyedReply = 4
/** Of a gRPC call: its head, the bytes of messages, its trailers. */
export const headReply = 5
export const messageReply = 6
export const trailersReply = 7
/** Its only message, with the usual head and the trailers of success. */
export const answerReply = 8
/** The program has destroyed a connection on which nothing came for too long. */
export const expiredReply = 9
/** The program has reset the connection. */
export const resetReply = 10
/** How a program has ended a connection at once. */
export const endings = { destroyed: destroyedReply, expired: expiredReply, reset: resetReply } as const

export const flags = {
  more: 1,
  keepAlive: 2,
  is10: 4,
  upgrade: 8,
  chunked: 16,
  last: 32,
  close: 64,
  text: 128,
  secure: 256,
  http2: 512,
  certificate: 1024,
  grpc: 2048,
  reset: 4096,
  lost: 8192,
} as const

/** In words, from a record's begin. */
export const at = {
  length: 0,
  kind: 1,
  sequence: 2,
  slot: 3,
  epoch: 4,
  connection: 5,
  headLength: 6,
  bodyLength: 7,
  bytes: 8,
  remote: 8,
  local: 13,
  method: 18,
  target: 20,
  /** Microseconds; wraps around. */
  arrived: 22,
  fieldCount: 23,
  fields: 24,
} as const

export const wordsOfField = 4
export const wordsOfReply = 5

/** A batch in one of the two areas. */
export interface Batch {
  readonly words: Int32Array
  readonly bytes: Buffer
}

export interface TcpEnds {
  readonly remote: AddressInfo
  readonly local: AddressInfo
}

/** Where a request's text begins, in bytes. */
export function textStart(words: Int32Array, record: number): number {
  return (record + at.fields + words[record + at.fieldCount]! * wordsOfField) * 4
}

/** DER, in memory of its own. It is behind the body's first piece. */
export function certificateIn({ words, bytes }: Batch, record: number): Buffer {
  const start = textStart(words, record) + words[record + at.headLength]! + words[record + at.bodyLength]!
  return Buffer.from(bytes.subarray(start + 4, start + 4 + bytes.readUInt32LE(start)))
}

export function endsOf(batch: Batch, record: number): TcpEnds {
  const { words, bytes } = batch
  return { remote: remoteOf(batch, record), local: addressAt(words, bytes, record + at.local) }
}

export function remoteOf({ words, bytes }: Batch, record: number): AddressInfo {
  return addressAt(words, bytes, record + at.remote)
}

/** Of the last clients over IPv4, each at a position by its address. */
const lastClients = Array.from({ length: 64 }, () => ({ bits: 0, text: '0.0.0.0' }))

/** As the address of {@link remoteOf}. */
export function remoteAddressOf(batch: Batch, record: number): string {
  const { words } = batch
  if (words[record + at.remote]! >>> 16 !== 4) return remoteOf(batch, record).address
  const bits = words[record + at.remote + 1]!
  const known = lastClients[(bits >>> 24) % lastClients.length]!
  if (known.bits !== bits) {
    known.bits = bits
    known.text = remoteOf(batch, record).address
  }
  return known.text
}

function addressAt(words: Int32Array, bytes: Buffer, word: number): TcpEnds['remote'] {
  const [first, byte] = [words[word]!, (word + 1) * 4]
  const port = first & 0xffff
  if (first >>> 16 === 4) return { address: bytes.subarray(byte, byte + 4).join('.'), family: 'IPv4', port }
  return { address: ipv6Text(bytes.subarray(byte, byte + 16)), family: 'IPv6', port }
}

/**
 * As the system writes it: the longest run of zeros is left out; an IPv4 address within is in its
 * own form.
 */
function ipv6Text(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, n) => bytes.readUInt16BE(n * 2))
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return `::ffff:${bytes.subarray(12).join('.')}`
  const text = groups.map((group) => group.toString(16)).join(':')
  const runs = text.match(/(?<![^:])0(?::0)+(?![^:])/g) ?? []
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one), '')
  return longest === '' ? text : text.replace(longest, '').replace(/^$|^:|:$|::/, '::')
}
