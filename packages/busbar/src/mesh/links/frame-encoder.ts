/**
 * The frames of a link, as `docs/reference/protocol.md` specifies them. A frame is a JSON list that
 * begins with its type. Frames of a call then have the call's number: positive if the caller sends
 * them, negative if the callee does, so that both sides can number their calls. A value takes the
 * last two entries: its form, and its JSON.
 */
import type { ErrorRecord } from '../../contract/errors.ts'
import type { EncodedValue } from './encoded-value.ts'
import type { CallHead } from './link.ts'

/** Rises with every change that an older peer would not understand. */
export const protocolVersion = 1

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

// In the functions below, `part` is the index of the frame's first byte part in the packet.

export function callFrame(id: number, head: CallHead, ended: boolean, payload: EncodedValue, part: number): string {
  const { trace, metadata, timeLeft, caller, delivery } = head
  const kind = kinds.indexOf(head.kind)
  const names = `${quote(head.service)},${quote(head.method)},${caller === undefined ? 0 : quote(caller)}`
  const rest =
    trace === undefined && metadata === undefined && head.contract === undefined && head.key === undefined && !delivery
      ? 0
      : JSON.stringify([
          trace?.traceparent,
          trace?.tracestate,
          metadata,
          head.contract,
          head.key,
          ...(delivery === undefined ? [] : [[delivery.id, delivery.attempt, delivery.enqueuedAt]]),
        ])
  const time = timeLeft === undefined ? -1 : Math.ceil(timeLeft)
  const flag =
    (ended ? flags.ended : 0) +
    (head.mayCancel === false ? flags.stays : 0) +
    (head.isForeign === true ? flags.foreign : 0)
  return `[1,${id},${kind},${flag},${names},${head.hops},${time},${rest},${valueOf(payload, part)}]`
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

export function closeFrame(reason: EncodedValue, part: number): string {
  return `[11,${valueOf(reason, part)}]`
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
