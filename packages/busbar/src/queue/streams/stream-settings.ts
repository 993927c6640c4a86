/** What the streams of a queue keep, and for how long. */
import type { JetStreamModules } from '../../shared/cluster/jetstream.ts'
import type { QueueSettings } from '../../shared/queues.ts'
import { longestWait, nanos } from './ack-wait.ts'

/**
 * The streams of a cluster's queue. `ready`: every item comes in here, and is attempted from here.
 * `later`: items that wait for their time. `dead`: dead letters. `begun`: attempts that have begun.
 */
export type QueueStream = ItemStream | 'begun'

/** Those that hold items. */
export type ItemStream = 'ready' | 'later' | 'dead'

/**
 * Milliseconds in which a message that is moved twice is recognized. It comes again after at most
 * {@link longestWait} if its host has ended within the move.
 */
const moveWindow = 2 * longestWait
/** Milliseconds: that of `ready` if `queues.window` is off. */
const usualWindow = 120_000
/** Milliseconds. The server accepts no shorter one. */
const leastWindow = 100

/**
 * `begun` has a message of each connection of a host. That of a host that has died is read when its
 * items come to others, a day later at the latest.
 */
const begunLimits = { max_msgs_per_subject: 1, max_msgs: 1_000, max_bytes: 16 * 1024 ** 2, max_age: nanos(86_400_000) }

/** In the order in which they are set up. */
export function streamSettings(
  { window, maxDepth, maxSize, keepDead }: QueueSettings,
  { RetentionPolicy: { Workqueue, Limits }, DiscardPolicy: { New, Old } }: JetStreamModules['jetstream'],
): ReadonlyMap<QueueStream, object> {
  const limits = { max_msgs: maxDepth, max_bytes: maxSize, discard: New, retention: Workqueue }
  // What is accepted must find room here: full of items with a delay, and then of failed ones.
  const roomy = { ...limits, max_msgs: 2 * maxDepth, max_bytes: 2 * maxSize }
  // The server has no stream without messages, so `keepDead: 0` keeps one.
  const dead = { max_msgs: Math.max(1, keepDead), max_bytes: maxSize, discard: Old, retention: Limits }
  return new Map<QueueStream, object>([
    ['ready', { ...limits, duplicate_window: nanos(windowOf(window)) }],
    ['later', { ...roomy, duplicate_window: nanos(moveWindow) }],
    ['dead', { ...dead, duplicate_window: nanos(moveWindow) }],
    ['begun', { ...begunLimits, discard: Old, retention: Limits }],
  ])
}

function windowOf(window: number): number {
  return window === 0 ? usualWindow : Math.max(leastWindow, window)
}
