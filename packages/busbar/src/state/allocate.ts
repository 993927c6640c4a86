import { BusbarError } from '../contract/errors.ts'
import type { OutOfSpace, NameKind } from '../shared/state/name-table.ts'
import { maxCounters, maxNameBytes, maxNames, maxThreads, segmentBytes } from '../shared/state/layout.ts'
import { joinShared, type Membership } from '../shared/state/membership.ts'

/** The cells of a named object, and this thread's access to them. */
export interface Allocation {
  readonly membership: Membership
  /** See {@link NameTable.locate}. */
  readonly at: number
}

export function allocate(kind: NameKind, name: string): Allocation {
  const bytes = typeof name === 'string' ? Buffer.byteLength(name) : 0
  if (bytes < 1 || bytes > maxNameBytes) {
    const message = `shared.${kind}() got the invalid name ${JSON.stringify(name)}`
    throw new BusbarError('SHARED_INVALID', { message, hint: `A name is a string of 1 to ${maxNameBytes} bytes.` })
  }
  const membership = member(`shared.${kind}(${JSON.stringify(name)})`)
  return { membership, at: found(membership.names.locate(kind, name), `shared.${kind}(${JSON.stringify(name)})`) }
}

/** Reserves shared memory. */
export function reserve(membership: Membership, bytes: number, what: string): number {
  return found(membership.names.reserve(bytes), what)
}

function member(what: string): Membership {
  const joined = joinShared()
  if (joined.state === 'joined') return joined.membership
  if (joined.state === 'crowded')
    throw full(what, `the limit of ${maxThreads} threads is reached`, 'Run fewer threads.')
  throw new BusbarError('SHARED_UNAVAILABLE', {
    message: `${what} is not available here: ${joined.reason}`,
    hint: "Run the services that share it with `run: 'shared'` or `run: 'thread'`; in a program of your own, import 'busbar' in the main thread before it starts other threads; across processes, keep the state in a service that the others call.",
  })
}

const limits: Readonly<Record<OutOfSpace, string>> = {
  names: `the limit of ${maxNames} names is reached`,
  counters: `the limit of ${maxCounters} counters is reached`,
  memory: `the ${segmentBytes / 2 ** 20} MiB of shared memory are full`,
}

function found(place: number | OutOfSpace, what: string): number {
  if (typeof place === 'number') return place
  throw full(what, limits[place], 'Use fewer names, and do not derive them from data: names are never freed.')
}

function full(what: string, reason: string, hint: string): BusbarError {
  return new BusbarError('SHARED_FULL', { message: `there is no room for ${what}: ${reason}`, hint })
}
