/**
 * The state of a `Readable` (lib/internal/streams/readable.js): whether it is unused or has ended.
 */
import { Readable } from 'node:stream'

interface Internals extends Readable {
  /** Number of events with listeners. */
  readonly _eventsCount: number
  readonly _readableState: Record<'ended' | 'endEmitted' | 'destroyed' | 'closed' | 'closeEmitted', boolean>
  [flag: symbol]: unknown
}

/** Marks a stream that has been read, for `stream.isDisturbed()`. */
const disturbed = Symbol.for('nodejs.stream.disturbed')

/** True if the stream has no listeners and has not been read from. */
export function isUntouched(stream: Readable): boolean {
  return (stream as Internals)._eventsCount === 0 && stream.readableFlowing === null
}

/** Marks the stream as read to its end. It must have no listeners, so no events are emitted. */
export function markRead(stream: Readable): void {
  const internals = stream as Internals
  const state = internals._readableState
  state.ended = true
  state.endEmitted = true
  state.destroyed = true
  state.closed = true
  state.closeEmitted = true
  internals[disturbed] = true
}

/** Undefined if streams have and expose this state. */
export function streamsFault(): unknown {
  const stream = new Readable({ read: () => {} })
  const seen = [isUntouched(stream)]
  markRead(stream)
  seen.push(stream.readableEnded, stream.destroyed, stream.closed, Readable.isDisturbed(stream))
  stream.on('error', () => {})
  seen.push(!isUntouched(stream))
  return seen.every(Boolean) ? undefined : `a stream does not expose its state: ${String(seen)}`
}
