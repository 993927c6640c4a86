import type { ItemOrigin, Reason } from '../item-queue.ts'

/** An item as a message holds it: a line of JSON, then the input. */
export interface StoredItem {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly added: number
  /** 0: at once, whatever the clocks of the hosts show. */
  readonly due: number
  /** Milliseconds that it is to wait, if that is not the time from `added` to `due`. */
  readonly pause?: number
  /** Attempts before this message. */
  readonly attempts: number
  readonly origin: ItemOrigin
  readonly input: string | null
}

export interface StoredDeadLetter extends Omit<StoredItem, 'origin'> {
  /** Undefined: the item is not whole. With what it was enqueued with, it was too large. */
  readonly origin: ItemOrigin | undefined
  readonly why: Reason
  readonly diedAt: number
}

/**
 * Bytes of a message that are not its input, at each stage of its item. At most 8 KiB of them are
 * metadata, 4 KiB are the reason of a dead letter, and 1.5 KiB are the id.
 */
export const headSize = 16 * 1024
/** Bytes of a reason's message, as JSON. */
const maxReason = 4 * 1024

const separator = '\n'.charCodeAt(0)

export function encodeItem({ input, ...head }: StoredItem | StoredDeadLetter): Uint8Array {
  const line = `${JSON.stringify({ ...head, hasInput: input !== null })}\n`
  return Buffer.from(input === null ? line : line + input)
}

/**
 * A dead letter that has at most `limit` bytes. Its reason is cut if need be. If it is larger even
 * without one, what the item was enqueued with is lost, and the reason says so. Without an origin,
 * no host puts it back: the method would run without its input.
 */
export function fitDeadLetter(letter: StoredDeadLetter, limit: number): StoredDeadLetter {
  const { id, added, attempts, why, diedAt, origin } = letter
  const size = encodeItem({ ...letter, why: cutReason(why, 0) }).length
  if (size <= limit || origin === undefined)
    return { ...letter, why: cutReason(why, Math.min(maxReason, limit - size)) }
  const message = `its input and metadata are lost: with them, it has ${size} bytes, and NATS takes ${limit}: ${why.message}`
  const bare = { id, added, due: 0, attempts, why: { ...why, message }, diedAt, origin: undefined, input: null }
  return fitDeadLetter(bare, limit)
}

/** `limit`: bytes of its message as JSON, without the quotes. */
function cutReason({ code, message }: Reason, limit: number): Reason {
  let [end, size] = [0, 0]
  for (const character of message) {
    size += Buffer.byteLength(JSON.stringify(character)) - 2
    if (size > limit) break
    end += character.length
  }
  return { code, message: message.slice(0, end) }
}

/** Undefined for any other message: every member of the cluster may publish anything. */
export function decodeItem(data: Uint8Array): StoredItem | undefined {
  return itemOf(headOf(data), data)
}

export function decodeDeadLetter(data: Uint8Array): StoredDeadLetter | undefined {
  const head = headOf(data)
  const item = itemOf(head && { origin: {}, ...head }, data) as (StoredItem & StoredDeadLetter) | undefined
  const { why } = item ?? {}
  if (item === undefined || typeof why?.code !== 'string' || typeof why.message !== 'string') return undefined
  return { ...item, origin: head?.['origin'] === undefined ? undefined : item.origin }
}

function itemOf(head: Record<string, unknown> | undefined, data: Uint8Array): StoredItem | undefined {
  if (head === undefined) return undefined
  const { id, added, due, pause = 0, attempts, origin, hasInput } = head
  if (typeof id !== 'string' || typeof origin !== 'object' || origin === null) return undefined
  for (const number of [added, due, pause, attempts]) if (!Number.isFinite(number)) return undefined
  const input = hasInput === true ? Buffer.from(data).toString('utf8', data.indexOf(separator) + 1) : null
  return { ...(head as unknown as StoredItem), input }
}

function headOf(data: Uint8Array): Record<string, unknown> | undefined {
  try {
    const end = data.indexOf(separator)
    const head: unknown = JSON.parse(Buffer.from(data.subarray(0, end < 0 ? 0 : end)).toString())
    return typeof head === 'object' && head !== null ? (head as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/**
 * As part of `Nats-Msg-Id`: servers trim a header's value, and it has no line breaks. Usual ids are
 * themselves.
 */
export function headerText(id: string): string {
  return /^[\x21\x23-\x7e][\x21-\x7e]*$/.test(id) ? id : JSON.stringify(id)
}
