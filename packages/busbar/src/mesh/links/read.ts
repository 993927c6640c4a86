/** What a peer says, as frames; whatever is none throws {@link ProtocolError}. */
import type { Metadata, Trace } from '../../contract/context.ts'
import type { ErrorRecord } from '../../contract/errors.ts'
import { flags, form, kinds } from './frames.ts'
import type { CallHead } from './link.ts'
import { type Packet, ProtocolError } from './pipe.ts'
import { uncarry } from './value.ts'

export type Frame = readonly unknown[]

/** The frames of a packet. */
export function framesOf({ text }: Packet): readonly Frame[] {
  const list = parse(text)
  if (!Array.isArray(list)) throw new ProtocolError('sent a packet that is no list of frames')
  return list as Frame[]
}

/** The value that a frame has from entry `at` on: its form, then itself. */
export function valueAt(frame: Frame, at: number, { bytes }: Packet): unknown {
  const how = frame[at]
  if (how === form.plain) return frame[at + 1]
  if (how === form.none) return undefined
  if (!isCount(how)) throw new ProtocolError('sent a value of no known form')
  try {
    return uncarry(frame[at + 1], bytes, how - form.bytesFrom)
  } catch (error) {
    throw new ProtocolError(`sent a value that is none: ${(error as Error).message}`)
  }
}

export function recordAt(frame: Frame, at: number, packet: Packet): ErrorRecord {
  const value = valueAt(frame, at, packet) as Partial<ErrorRecord> | null | undefined
  if (typeof value?.code !== 'string' || typeof value.message !== 'string')
    throw new ProtocolError('sent an error without a code')
  return value as ErrorRecord
}

/** `[1, id, kind, flags, service, method, caller or 0, hops, time left or -1, trace and metadata or 0, value]` */
export function headOf(frame: Frame): CallHead {
  const [, , kind, flag, service, method, caller, hops, time, rest] = frame
  const isHead =
    isCount(kind) && kind < kinds.length && typeof service === 'string' && typeof method === 'string' && isCount(hops)
  if (!isHead || typeof time !== 'number' || !isCount(flag)) throw new ProtocolError('sent a call without a head')
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
  }
}

export function countAt(frame: Frame, at: number): number {
  const count = frame[at]
  if (isCount(count)) return count
  throw new ProtocolError('sent a frame without the number that belongs there')
}

function traceOf(rest: unknown): Trace | undefined {
  const [traceparent, tracestate] = listOf(rest)
  if (typeof traceparent !== 'string') return undefined
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent }
}

function metadataOf(rest: unknown): Metadata | undefined {
  const [, , metadata] = listOf(rest)
  return isWords(metadata) ? metadata : undefined
}

function listOf(rest: unknown): unknown[] {
  if (Array.isArray(rest)) return rest as unknown[]
  throw new ProtocolError('sent a call without a head')
}

function isWords(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null && Object.values(value).every((word) => typeof word === 'string')
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError('sent a packet that is no JSON')
  }
}
