import { BusbarError } from '../../../contract/errors.ts'
import { reservedDescriptors } from '../../../shared/process/descriptors.ts'
import type { RunningApp } from '../../running-app.ts'

/** Each costs the supervisor a status or a line at a time. */
const mostFollowers = 16

const followers = new WeakMap<RunningApp, number>()

/**
 * `events`, for a client that follows the app until it disconnects. Throws RESOURCE_EXHAUSTED if
 * there are too many: each holds a connection, and half of those of an admin listener stay free for
 * `busbar ps`, probes and metrics.
 */
export function following<T>(running: RunningApp, events: AsyncIterable<T>): AsyncIterable<T> {
  const most = Math.min(mostFollowers, Math.floor(reservedDescriptors() / 4))
  if ((followers.get(running) ?? 0) >= most)
    throw new BusbarError('RESOURCE_EXHAUSTED', {
      message: `${most} clients follow this app already, and no more are allowed`,
      hint: 'Close one of them, for example a tab of the dashboard, or a busbar logs --follow.',
    })
  return counted(running, events)
}

async function* counted<T>(running: RunningApp, events: AsyncIterable<T>): AsyncGenerator<T> {
  const count = (by: 1 | -1): void => void followers.set(running, (followers.get(running) ?? 0) + by)
  count(1)
  try {
    yield* events
  } finally {
    count(-1)
  }
}
