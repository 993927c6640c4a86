/**
 * What travels over a link, as `docs/reference/protocol.md` says. A frame is a JSON list that begins with its type and,
 * for those of a call, the call's number: positive from whoever opened it, negative from whoever answers, so that both
 * may count for themselves. A value is the last two entries: its form, and what JSON makes of it.
 */
import type { ErrorRecord } from '../../contract/errors.ts'
import type { CallHead } from './link.ts'
import type { Carried } from './value.ts'

/** Rises with every change that an older side would not understand. */
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
} as const

/** How a value stands in its frame. From {@link form.bytesFrom} on: it has tags, and its bytes begin there in the packet. */
export const form = { none: 0, plain: 1, bytesFrom: 2 } as const

/** Of a call: the caller sends no data; it will not give it up. */
export const flags = { ended: 1, stays: 2 } as const

export const kinds = ['call', 'stream', 'http', 'bytes'] as const satisfies readonly CallHead['kind'][]

// `bytes`, below: how many the packet has before those of this frame.

export function callFrame(id: number, head: CallHead, ended: boolean, payload: Carried, bytes: number): string {
  const { trace, metadata, timeLeft, caller } = head
  const kind = kinds.indexOf(head.kind)
  const names = `${quote(head.service)},${quote(head.method)},${caller === undefined ? 0 : quote(caller)}`
  const rest =
    trace === undefined && metadata === undefined
      ? 0
      : JSON.stringify([trace?.traceparent, trace?.tracestate, metadata])
  const time = timeLeft === undefined ? -1 : Math.ceil(timeLeft)
  return `[1,${id},${kind},${(ended ? flags.ended : 0) + (head.mayCancel === false ? flags.stays : 0)},${names},${head.hops},${time},${rest},${valueOf(payload, bytes)}]`
}

export function replyFrame(id: number, last: boolean, value: Carried, bytes: number): string {
  return `[2,${id},${last ? 1 : 0},${valueOf(value, bytes)}]`
}

/** Of `data` and `end`. */
export function valueFrame(type: 3 | 4, id: number, value: Carried, bytes: number): string {
  return `[${type},${id},${valueOf(value, bytes)}]`
}

/** `untouched`: the call was refused before anything was done for it. */
export function errorFrame(id: number, untouched: boolean, error: Carried, bytes: number): string {
  return `[5,${id},${untouched ? 1 : 0},${valueOf(error, bytes)}]`
}

export function cancelFrame(id: number, reason: Carried, bytes: number): string {
  return `[6,${id},${valueOf(reason, bytes)}]`
}

export function creditFrame(id: number, count: number): string {
  return `[7,${id},${count}]`
}

export const pingFrame = '[8]'
export const pongFrame = '[9]'
export const drainFrame = '[10]'

export function closeFrame(reason: Carried, bytes: number): string {
  return `[11,${valueOf(reason, bytes)}]`
}

export function loadFrame(service: string, inFlight: number): string {
  return `[12,${quote(service)},${inFlight}]`
}

/** What of an error may go out: plain, whatever the object was. */
export function plainRecord({ code, message, hint, service, data }: ErrorRecord): ErrorRecord {
  return {
    code,
    message,
    ...(hint !== undefined && { hint }),
    ...(service !== undefined && { service }),
    ...(data !== undefined && { data }),
  }
}

function valueOf({ text, isTagged }: Carried, bytes: number): string {
  if (text === undefined) return '0'
  return isTagged ? `${form.bytesFrom + bytes},${text}` : `1,${text}`
}

const quoted = new Map<string, string>()

/** The names of services and methods come again with every call. */
function quote(name: string): string {
  let text = quoted.get(name)
  if (text !== undefined) return text
  text = JSON.stringify(name)
  // A program's own requests may have any method.
  if (quoted.size < 10_000 && name.length <= 64) quoted.set(name, text)
  return text
}
