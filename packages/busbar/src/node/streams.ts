/** What a `Readable` knows of itself (lib/internal/streams/readable.js): whether somebody has looked at it, and that it has ended. */
import { Readable } from 'node:stream'

interface Internals extends Readable {
  /** Kinds of listeners. */
  readonly _eventsCount: number
  readonly _readableState: Record<'ended' | 'endEmitted' | 'destroyed' | 'closed' | 'closeEmitted', boolean>
  [note: symbol]: unknown
}

/** By this streams know that they have been read, as `stream.isDisturbed()` asks. */
const disturbed = Symbol.for('nodejs.stream.disturbed')

/** Nobody listens to it, and nobody has read from it. */
export function isUntouched(stream: Readable): boolean {
  return (stream as Internals)._eventsCount === 0 && stream.readableFlowing === null
}

/** Leaves it as one that was read to its end. Nobody listens, so nobody has to be told. */
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

/** Undefined where streams know and show all that. */
export function streamsFault(): unknown {
  const stream = new Readable({ read: () => {} })
  const seen = [isUntouched(stream)]
  markRead(stream)
  seen.push(stream.readableEnded, stream.destroyed, stream.closed, Readable.isDisturbed(stream))
  stream.on('error', () => {})
  seen.push(!isUntouched(stream))
  return seen.every(Boolean) ? undefined : `a stream does not show its state: ${String(seen)}`
}
