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

export interface StoredDeadLetter extends StoredItem {
  readonly why: Reason
  readonly diedAt: number
}

/** Bytes of a message that are not its input. */
export const headSize = 16 * 1024

const separator = '\n'.charCodeAt(0)

export function encodeItem({ input, ...head }: StoredItem | StoredDeadLetter): Uint8Array {
  const line = `${JSON.stringify({ ...head, hasInput: input !== null })}\n`
  return Buffer.from(input === null ? line : line + input)
}

/** Undefined for any other message: every member of the cluster may publish anything. */
export function decodeItem(data: Uint8Array): StoredItem | undefined {
  const head = headOf(data)
  if (head === undefined) return undefined
  const { id, added, due, pause = 0, attempts, origin, hasInput } = head
  if (typeof id !== 'string' || typeof origin !== 'object' || origin === null) return undefined
  for (const number of [added, due, pause, attempts]) if (!Number.isFinite(number)) return undefined
  const input = hasInput === true ? Buffer.from(data).toString('utf8', data.indexOf(separator) + 1) : null
  return { ...(head as unknown as StoredItem), input }
}

export function decodeDeadLetter(data: Uint8Array): StoredDeadLetter | undefined {
  const item = decodeItem(data) as StoredDeadLetter | undefined
  const { why } = item ?? {}
  return typeof why?.code === 'string' && typeof why.message === 'string' ? item : undefined
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
