/**
 * The frames of a link, as `docs/reference/protocol.md` specifies them. A frame is a JSON list that
 * begins with its type. Frames of a call then have the call's number: positive if the caller sends
 * them, negative if the callee does, so that both sides can number their calls. A value takes the
 * last two entries: its form, and its JSON.
 */
import type { ErrorRecord } from '../../../contract/errors.ts'
import type { EncodedValue } from './encoded-value.ts'
import type { CallHead } from '../link.ts'

/** Rises with every change that an older peer would not understand. */
export const protocolVersion = 3

export const frameTypes = {
  call: 1,
  reply: 2,
  data: 3,
  end: 4,
  error: 5,
  cancel: 6,
  credit: 7,
  ping: 8,
  pong: 9,
  drain: 10,
  close: 11,
  load: 12,
  move: 13,
  calls: 14,
  replies: 15,
} as const

/**
 * The form of a value. From `bytesFrom` on it has tags; its byte parts begin at index
 * `form - bytesFrom` of the packet.
 */
export const form = { none: 0, plain: 1, bytesFrom: 2 } as const

/**
 * Flags of a call. `ended`: the caller sends no data. `stays`: the caller will not cancel.
 * `foreign`: the caller belongs to another app.
 */
export const flags = { ended: 1, stays: 2, foreign: 4 } as const

export const kinds = ['call', 'stream', 'http', 'bytes', 'event'] as const satisfies readonly CallHead['kind'][]

/** A value that is on its way into a frame. */
export interface FrameValue {
  /** One of `frameTypes`: 3 is `data`, 4 is `end`, 5 is `error`. */
  readonly type: 3 | 4 | 5
  readonly value: EncodedValue
}

// In the functions below, `part` is the index of the frame's first byte part in the packet.

/** `head`: {@link headTextOf} it. */
export function callFrame(id: number, head: string, payload: EncodedValue, part: number): string {
  return `[1,${id},${head},${valueOf(payload, part)}]`
}

/** The entries of a call between its number and its value. */
export function headTextOf(head: CallHead, ended: boolean): string {
  return (ended ? shared.get(head) : undefined) ?? headText(head, ended)
}

/** The texts of heads that many calls have. */
const shared = new WeakMap<CallHead, string>()

/** Many calls that send no data have this head: its text is made once. */
export function shareHead(head: CallHead): CallHead {
  shared.set(head, headText(head, true))
  return head
}

function headText(head: CallHead, ended: boolean): string {
  const { timeLeft, caller } = head
  const kind = kinds.indexOf(head.kind)
  const names = `${quote(head.service)},${quote(head.method)},${caller === undefined ? 0 : quote(caller)}`
  const time = timeLeft === undefined ? -1 : Math.ceil(timeLeft)
  const flag =
    (ended ? flags.ended : 0) +
    (head.mayCancel === false ? flags.stays : 0) +
    (head.isForeign === true ? flags.foreign : 0)
  return `${kind},${flag},${names},${head.hops},${time},${restOf(head)}`
}

function restOf({ trace, metadata, contract, key, delivery }: CallHead): string {
  if (trace === undefined && metadata === undefined && contract === undefined && key === undefined && !delivery)
    return '0'
  const traces = `${textOf(trace?.traceparent)},${textOf(trace?.tracestate)}`
  const fields = metadata === undefined ? 'null' : JSON.stringify(metadata)
  const names = `${contract === undefined ? 'null' : quote(contract)},${textOf(key)}`
  const item = delivery && `,${JSON.stringify([delivery.id, delivery.attempt, delivery.enqueuedAt])}`
  return `[${traces},${fields},${names}${item ?? ''}]`
}

function textOf(text: string | undefined): string {
  return text === undefined ? 'null' : JSON.stringify(text)
}

export function replyFrame(id: number, last: boolean, value: EncodedValue, part: number): string {
  return `[2,${id},${last ? 1 : 0},${valueOf(value, part)}]`
}

/** A `data` or `end` frame. */
export function valueFrame(type: 3 | 4, id: number, value: EncodedValue, part: number): string {
  return `[${type},${id},${valueOf(value, part)}]`
}

/** `notStarted`: the call was refused before it started. */
export function errorFrame(id: number, notStarted: boolean, error: EncodedValue, part: number): string {
  return `[5,${id},${notStarted ? 1 : 0},${valueOf(error, part)}]`
}

export function cancelFrame(id: number, reason: EncodedValue, part: number): string {
  return `[6,${id},${valueOf(reason, part)}]`
}

export function creditFrame(id: number, count: number): string {
  return `[7,${id},${count}]`
}

export const pingFrame = '[8]'
export const pongFrame = '[9]'
export const drainFrame = '[10]'
export const moveFrame = '[13]'

/** `last`: the number of the last call of the peer that was read. */
export function closeFrame(last: number, reason: EncodedValue, part: number): string {
  return `[11,${valueOf(reason, part)},${last}]`
}

export function loadFrame(service: string, inFlight: number): string {
  return `[12,${quote(service)},${inFlight}]`
}

/** The parts of an error that may leave the worker, as a plain object. */
export function plainRecord({ code, message, hint, service, data }: ErrorRecord): ErrorRecord {
  return {
    code,
    message,
    ...(hint !== undefined && { hint }),
    ...(service !== undefined && { service }),
    ...(data !== undefined && { data }),
  }
}

function valueOf({ text, isTagged }: EncodedValue, part: number): string {
  if (text === undefined) return '0'
  return isTagged ? `${form.bytesFrom + part},${text}` : `1,${text}`
}

const quoted = new Map<string, string>()

/** Caches quoted names: those of services and methods recur with every call. */
function quote(name: string): string {
  let text = quoted.get(name)
  if (text !== undefined) return text
  text = JSON.stringify(name)
  // Bounded, because a program's own requests may have any method.
  if (quoted.size < 10_000 && name.length <= 64) quoted.set(name, text)
  return text
}
