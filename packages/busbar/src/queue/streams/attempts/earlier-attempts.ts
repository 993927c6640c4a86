import { setTimeout as sleep } from 'node:timers/promises'
import { ackWait } from '../ack-wait.ts'
import type { BegunDelivery } from './begun-counts.ts'
import type { BegunList } from './begun-list.ts'

/** What became of the attempts of a message that was delivered before. */
export type Earlier =
  /** So many have begun, and there may be further ones. */
  | { readonly is: 'counted'; readonly begun: number }
  /** The last one has begun, and its host is silent. */
  | { readonly is: 'died'; readonly begun: number }
  /**
   * The last one goes on at a host that lives, or that has just taken it off its list. What has not
   * begun comes again; what is complete does not.
   */
  | { readonly is: 'held' }

/** Milliseconds between two looks for a sign of life. */
const lookInterval = 2_000

/**
 * `left`: how many attempts the item may have. A message is also delivered again because its
 * server was away, which has cut off its host for a moment. So before the last attempt is given up
 * for dead, its host has as long to say something as a host with a message has. What it says may be
 * that the attempt has not begun.
 */
export async function earlierAttempts(
  list: BegunList,
  delivery: BegunDelivery,
  left: number,
  isStopping: () => boolean,
): Promise<Earlier> {
  const until = performance.now() + ackWait
  const first = await list.countOf(delivery)
  for (let count = first; ; count = await list.countOf(delivery)) {
    const { begun, saidAt } = count
    const isFirst = count === first
    if (isFirst && (begun === 0 || begun < left)) return { is: 'counted', begun }
    if (saidAt > first.saidAt || begun < first.begun || isStopping()) return { is: 'held' }
    if (performance.now() > until) return { is: 'died', begun }
    await sleep(lookInterval)
  }
}
