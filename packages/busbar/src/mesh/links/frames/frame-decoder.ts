/**
 * Decodes the frames of a packet. All functions throw {@link ProtocolError} for malformed input.
 */
import type { Metadata, QueueDelivery, Trace } from '../../../contract/context.ts'
import type { ErrorRecord } from '../../../contract/errors.ts'
import { flags, form, kinds } from './frame-encoder.ts'
import type { CallHead } from '../link.ts'
import { type Packet, ProtocolError } from '../packet-transport.ts'
import { maxJsonDepth, mayHaveForbiddenKeys } from '../../../contract/value/decode.ts'
import { decodeValue } from './encoded-value.ts'
import {
  maxByteStrings,
  maxDigits,
  maxElements,
  maxFrames,
  maxLeaves,
  maxNamed,
  maxNames,
  maxTags,
  maxValue,
  packetSize,
} from '../limits/limits.ts'
import { scanText, type TextLimits, type TextScan } from './text-scan.ts'
import { LeafReader, namesIn, shapeOf } from './value-shape.ts'

export type Frame = readonly unknown[]

/** `isForeign`: the peer belongs to another app. `size`: about the bytes that they take. */
export function framesOf(packet: Packet, isForeign: boolean): { frames: readonly Frame[]; size: number } {
  const size = isForeign ? checkedSize(packet) : 0
  const list = parse(packet.text)
  if (!Array.isArray(list)) throw new ProtocolError('sent a packet that is not a list of frames')
  return { frames: list as Frame[], size }
}

/** Another app may send what takes seconds to decode. */
function checkedSize({ text, bytes }: Packet): number {
  let size = text.length
  for (const part of bytes) size += part.byteLength
  if (size > longest) throw new ProtocolError('sent a packet that is too large')
  if (bytes.length > limits.byteStrings) throw new ProtocolError(`sent ${faults.byteStrings}`)
  size += ofByteString * bytes.length
  if (text.length <= unchecked) return size
  const { elements, containers } = checkText(text)
  return size + 8 * elements + 48 * containers
}

function checkText(text: string): TextScan {
  const scan = scanText(text, limits)
  if (scan.exceeds !== undefined) throw new ProtocolError(`sent ${faults[scan.exceeds]}`)
  return scan
}

/** Bytes that one takes besides its own. An empty object takes 56, and a place in a list 8. */
const ofByteString = 200

const faults = {
  depth: 'a value that is nested too deeply',
  frames: 'a packet with too many frames',
  elements: 'a value with too many elements',
  names: 'a value with too many different names',
  tags: 'a value with too many tags',
  byteStrings: 'a value with too many byte strings',
  digits: 'a value with too many digits of bigints',
} as const satisfies Record<keyof TextLimits, string>

/**
 * Characters and bytes of a packet: its last value, and the frames before it with what is around
 * values.
 */
const longest = maxValue + 4 * packetSize

/** Characters of a packet that is not checked, since it is parsed within milliseconds. */
const unchecked = 16 * 1024

/** Levels of a packet: the list of frames, their entries, the values of a run, and one of these. */
const deepest = 3 + maxJsonDepth

/**
 * The frames before the last value may have as many elements and digits as characters, and names of
 * two.
 */
const limits: TextLimits = {
  depth: deepest,
  frames: maxFrames,
  elements: maxElements + packetSize,
  names: maxNames + packetSize / 4,
  tags: maxTags + packetSize / 4,
  byteStrings: maxByteStrings + packetSize / 4,
  digits: maxDigits + packetSize,
}

/** The value whose form is entry `at` of the frame. */
export function valueAt(frame: Frame, at: number, packet: Packet): unknown {
  const how = frame[at]
  if (how === form.plain) return plainValue(frame[at + 1], packet)
  if (how === form.none) return undefined
  if (!isCount(how)) throw new ProtocolError('sent a value of unknown form')
  return decoded(frame[at + 1], packet, how - form.bytesFrom)
}

/** No conforming peer sends the keys that are refused, which a look at the whole text excludes. */
function plainValue(value: unknown, packet: Packet): unknown {
  if (typeof value !== 'object' || value === null || !mayHaveForbiddenKeys(packet.text)) return value
  return decoded(value, packet, 0)
}

function decoded(value: unknown, { bytes }: Packet, base: number): unknown {
  try {
    return decodeValue(value, bytes, base)
  } catch (error) {
    throw new ProtocolError(`sent an invalid value: ${(error as Error).message}`)
  }
}

export function recordAt(frame: Frame, at: number, packet: Packet): ErrorRecord {
  const value = valueAt(frame, at, packet) as Partial<ErrorRecord> | null | undefined
  if (typeof value?.code !== 'string' || typeof value.message !== 'string')
    throw new ProtocolError('sent an error without a code')
  const { code, message, hint, service, stack, data } = value
  const isWhole = [hint, service, stack].every((text) => text === undefined || typeof text === 'string')
  return isWhole ? (value as ErrorRecord) : { code, message, data }
}

/** The values of a frame of many calls: as they are, or their leaves and then their shape. */
export function valuesAt(frame: Frame, at: number, packet: Packet): readonly unknown[] {
  const values = frame[at] as readonly unknown[]
  if (!Array.isArray(values)) throw new ProtocolError('sent a frame without a required list')
  return frame.length > at + 1 ? shapedValues(values, frame[at + 1]) : (plainValue(values, packet) as unknown[])
}

function shapedValues(leaves: readonly unknown[], sample: unknown): unknown[] {
  if (leaves.length > maxLeaves) throw new ProtocolError('sent too many values of one shape')
  const shape = shapeOf(sample)
  if (shape === undefined) throw new ProtocolError('sent values of no shape')
  if (leaves.length * namesIn(shape) > maxNamed) throw new ProtocolError('sent too many values of one shape')
  const reader = new LeafReader(leaves)
  const values: unknown[] = []
  try {
    while (!reader.isAtEnd) values.push(reader.read(shape))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ProtocolError('sent values of another shape')
  }
  return values
}

/** The caller sends no data. */
export function isEnded(frame: Frame): boolean {
  return ((frame[3] as number) & flags.ended) !== 0
}

/**
 *     [1, id, kind, flags, service, method, caller or 0, hops, time left or -1,
 *      trace and metadata or 0, value]
 */
export function headOf(frame: Frame): CallHead {
  const [, , kind, flag, service, method, caller, hops, time, rest] = frame
  const isHead =
    isCount(kind) && kind < kinds.length && typeof service === 'string' && typeof method === 'string' && isCount(hops)
  if (!isHead || typeof time !== 'number' || !isCount(flag))
    throw new ProtocolError('sent a call with a malformed head')
  return {
    service,
    kind: kinds[kind]!,
    method,
    hops,
    caller: typeof caller === 'string' ? caller : undefined,
    mayCancel: (flag & flags.stays) === 0,
    timeLeft: time < 0 ? undefined : time,
    trace: rest === 0 ? undefined : traceOf(rest),
    metadata: rest === 0 ? undefined : metadataOf(rest),
    isForeign: (flag & flags.foreign) !== 0,
    contract: rest === 0 ? undefined : textOf(rest, 3),
    key: rest === 0 ? undefined : textOf(rest, 4),
    delivery: rest === 0 ? undefined : deliveryOf(rest),
  }
}

export function countAt(frame: Frame, at: number): number {
  const count = frame[at]
  if (isCount(count)) return count
  throw new ProtocolError('sent a frame without a required number')
}

function traceOf(rest: unknown): Trace | undefined {
  const [traceparent, tracestate] = listOf(rest)
  if (typeof traceparent !== 'string') return undefined
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent }
}

function metadataOf(rest: unknown): Metadata | undefined {
  const [, , metadata] = listOf(rest)
  return isStringRecord(metadata) ? metadata : undefined
}

function deliveryOf(rest: unknown): QueueDelivery | undefined {
  const found = listOf(rest)[5]
  if (!Array.isArray(found)) return undefined
  const [id, attempt, enqueuedAt] = found as unknown[]
  if (typeof id !== 'string' || !isCount(attempt) || !isCount(enqueuedAt)) return undefined
  return { id, attempt, enqueuedAt }
}

function textOf(rest: unknown, at: number): string | undefined {
  const text = listOf(rest)[at]
  return typeof text === 'string' ? text : undefined
}

function listOf(rest: unknown): unknown[] {
  if (Array.isArray(rest)) return rest as unknown[]
  throw new ProtocolError('sent a call with a malformed head')
}

function isStringRecord(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null && Object.values(value).every((word) => typeof word === 'string')
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError('sent a packet that is not JSON')
  }
}
