import { BusbarError } from '../contract/errors.ts'
import type { Full, Kind } from '../shared/state/directory.ts'
import { maxCounters, maxNameBytes, maxNames, maxThreads, segmentBytes } from '../shared/state/layout.ts'
import { joinShared, type Membership } from '../shared/state/membership.ts'

/** Where something of that name is, and this thread's part in it. */
export interface Place {
  readonly membership: Membership
  /** See {@link Membership.directory}. */
  readonly at: number
}

export function placeOf(kind: Kind, name: string): Place {
  const bytes = typeof name === 'string' ? Buffer.byteLength(name) : 0
  if (bytes < 1 || bytes > maxNameBytes) {
    const message = `shared.${kind}() was given the name ${JSON.stringify(name)}`
    throw new BusbarError('SHARED_INVALID', { message, hint: `a name is a text of 1 to ${maxNameBytes} bytes` })
  }
  const membership = member(`shared.${kind}(${JSON.stringify(name)})`)
  return { membership, at: found(membership.directory.placeOf(kind, name), `shared.${kind}(${JSON.stringify(name)})`) }
}

/** Room in the common memory. */
export function reserve(membership: Membership, bytes: number, what: string): number {
  return found(membership.directory.reserve(bytes), what)
}

function member(what: string): Membership {
  const joined = joinShared()
  if (joined.state === 'joined') return joined.membership
  if (joined.state === 'crowded') throw full(what, `${maxThreads} threads take part already`, 'run fewer threads')
  throw new BusbarError('SHARED_UNAVAILABLE', {
    message: `${what} is not to be had here: ${joined.reason}`,
    hint: "give the services that share it `run: 'shared'` or `run: 'thread'`; in a program of your own, import 'busbar' in the main thread before it starts others; across processes, keep the state in a service that the others call",
  })
}

const limits: Readonly<Record<Full, string>> = {
  names: `there are ${maxNames} names already`,
  counters: `there are ${maxCounters} counters already`,
  memory: `the ${segmentBytes / 2 ** 20} MiB that threads share are full`,
}

function found(place: number | Full, what: string): number {
  if (typeof place === 'number') return place
  throw full(what, limits[place], 'names are never given back: use fewer, and none that are made from data')
}

function full(what: string, reason: string, hint: string): BusbarError {
  return new BusbarError('SHARED_FULL', { message: `there is no room for ${what}: ${reason}`, hint })
}
