import type { Reason } from '../../item-queue.ts'
import type { Failed, Outcome } from '../../run-item.ts'
import { isHeld } from '../ack-wait.ts'
import type { BegunDelivery } from './begun-counts.ts'
import type { BegunList } from './begun-list.ts'
import { acknowledge, type Delivery } from '../consumers/consumers.ts'
import { encodeItem, fitDeadLetter, type StoredDeadLetter, type StoredItem } from '../item-message.ts'
import type { ItemStreams } from '../item-streams.ts'
import { hasNoRoom } from '../queue-faults.ts'

/** One attempt. It may outlive the connection that has delivered its message. */
export interface Attempt {
  readonly item: StoredItem
  readonly target: string
  /** From 1. */
  number: number
  /** The last one of its message. */
  delivery: Delivery
  /** When it was certainly this host's for the last time. */
  heldAt: number
  /** How it is listed as begun. */
  listed: BegunDelivery | undefined
  stage: Stage
}

type Stage =
  /** What other hosts have begun is counted, and this attempt is listed. */
  { readonly is: 'begins' } | { readonly is: 'runs' } | Ended

export interface Ended {
  readonly is: 'ended'
  readonly outcome: Outcome
  readonly at: number
  /** Milliseconds before the next attempt, since the log has said so. */
  pause?: number
}

/** The last attempt has begun, and no outcome came. */
export const died: Failed = {
  is: 'failed',
  why: { code: 'WORKER_DIED', message: 'the host, or its connection to NATS, ended during the attempt' },
  final: true,
}

/** Times that a message waits for its host. An outcome that no server has taken is kept so long. */
export const keptWaits = 3

export function newAttempt(item: StoredItem, target: string, delivery: Delivery): Attempt {
  const { heldAt } = delivery
  return { item, target, number: item.attempts + 1, delivery, heldAt, listed: undefined, stage: { is: 'begins' } }
}

export function countOf({ message }: Delivery): number {
  return message.info.deliveryCount
}

/** A stream that was made anew has another item by the same number. */
export function isSame(one: StoredItem, other: StoredItem): boolean {
  return one.id === other.id && one.added === other.added
}

/** Attempts that have begun, this one included. Others may have begun at other hosts meanwhile. */
export async function begunOf({ item, number, delivery, listed }: Attempt, list: BegunList): Promise<number> {
  if (listed === undefined || listed.count === countOf(delivery)) return number
  return Math.max(number, item.attempts + (await list.countOf(listed)).begun)
}

/**
 * The host that had the message may have moved the item before it ended. So it is moved as that
 * host would have done: the server takes it once. False: there is no room.
 */
export async function passOn({ item, target, number, delivery }: Attempt): Promise<boolean> {
  try {
    await moveToLater({ ...item, attempts: number - 1, due: 0 }, target, delivery)
    return true
  } catch (error) {
    if (!hasNoRoom(error)) throw error
    return false
  }
}

/** A message that is moved twice is one there. */
export async function moveToLater(item: StoredItem, target: string, delivery: Delivery): Promise<void> {
  const { streams } = delivery
  await streams.publish('later', target, encodeItem(stored(item)), { msgID: idOf(item, delivery) })
  await acknowledge(delivery)
}

/** Resolves to the dead letter, as it is kept, and its number. */
export async function moveToDead(
  item: StoredItem,
  target: string,
  why: Reason,
  delivery: Delivery,
): Promise<{ readonly number: number; readonly letter: StoredDeadLetter }> {
  const { streams } = delivery
  const msgID = idOf(item, delivery)
  const whole = { ...stored(item), why, diedAt: Date.now() }
  let letter = fitDeadLetter(whole, streams.roomOf(msgID))
  if (letter.origin === undefined) {
    await streams.renewLimit()
    letter = fitDeadLetter(whole, streams.roomOf(msgID))
  }
  const { seq: number } = await streams.publish('dead', target, encodeItem(letter), { msgID })
  await acknowledge(delivery)
  return { number, letter }
}

/** `done`: takes the message off the stream `ready`. */
export async function complete<T>({ listed, delivery }: Attempt, list: BegunList, done: Promise<T>): Promise<T> {
  const result = await done
  if (listed === undefined) return result
  // Another host may have got the message meanwhile. Unlisted, it would be one that has not begun.
  if (delivery.streams === list.streams) list.forget(listed)
  else setTimeout(() => list.forget(listed), keptWaits * delivery.wait).unref()
  return result
}

/** Waits until the server has had their signs of life. Never rejects. */
export async function confirm(streams: ItemStreams, attempts: readonly Attempt[]): Promise<void> {
  const at = await streams.pings.confirm().catch(() => undefined)
  if (at === undefined) return
  // A sign that may have come too late gives nothing back.
  for (const attempt of attempts)
    if (isHeld(attempt.heldAt, attempt.delivery.wait)) attempt.heldAt = Math.max(attempt.heldAt, at)
}

function idOf({ added }: StoredItem, { message, streams }: Delivery): string {
  return `${streams.nameOf('ready')} ${message.seq} ${added}`
}

function stored({ id, added, due, pause, attempts, origin, input }: StoredItem): StoredItem {
  return { id, added, due, ...(pause !== undefined && { pause }), attempts, origin, input }
}
