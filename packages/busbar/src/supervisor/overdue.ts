import type { App, Service } from '../config/app.ts'
import { threadsNow } from '../shared/cells.ts'
import type { InstanceTable } from '../shared/instances.ts'
import { overdue } from './exit.ts'
import type { GivenUpCalls } from './given-up.ts'
import { mayBeEnded } from './plan.ts'
import type { WorkerSlot } from './slot.ts'

/** Milliseconds: a call that is a little late costs no start of a thread. */
const spareAfter = 100

export interface OverdueParts {
  readonly slots: readonly WorkerSlot[]
  readonly app: () => App
  readonly instances: InstanceTable
  readonly givenUp: GivenUpCalls
  readonly interval: number
}

/**
 * Ends the threads of services with a `concurrency` that still compute a call which was over `grace` ago: no message can reach
 * such a thread. Where none is kept as a `spare`, another one starts before that, and mostly serves when it is needed.
 * Returns what ends the watch.
 */
export function watchOverdue(parts: OverdueParts): () => void {
  const { slots, app, interval } = parts
  const threads = slots.filter(({ place }) => place.kind === 'thread')
  const timer = setInterval(() => {
    const { services } = app()
    for (const slot of threads) {
      const late = lateIn(slot, services, parts)
      if (late === undefined) slot.dropSpare()
      else endInTime(slot, late, threads)
    }
  }, interval)
  return () => clearInterval(timer)
}

interface Late {
  readonly service: Service
  /** Milliseconds for which a call has been over and its thread has not turned since. */
  readonly by: number
}

/** Undefined while there is nothing to do. Once the thread has turned, it has heard that the call is over. */
function lateIn(
  { place, serving }: WorkerSlot,
  services: readonly Service[],
  { instances, givenUp }: OverdueParts,
): Late | undefined {
  if (serving === undefined || !mayBeEnded(place, services)) return undefined
  const hosted = services.filter(({ name }) => place.hosts.some((host) => host.name === name))
  const now = threadsNow()
  const age = serving.age(now)
  const all = hosted.map((service) => {
    const slots = instances.slots(service.name)!
    const over = Math.max(slots.overdue(serving.row, now), givenUp.overdue(serving, service.name, slots, now))
    return { service, by: Math.min(age, over) }
  })
  return all.find(({ service, by }) => by > Math.min(spareAfter, service.grace / 2))
}

/** Where no other instance could take calls, it stays until the spare serves: without any, those that wait would fail. */
function endInTime(slot: WorkerSlot, { service, by }: Late, threads: readonly WorkerSlot[]): void {
  const { name, grace } = service
  slot.prepareSpare()
  if (by <= grace) return
  const now = threadsNow()
  const isAble = (other: WorkerSlot): boolean =>
    other !== slot &&
    other.place.hosts.some((host) => host.name === name) &&
    (other.serving?.age(now) ?? Infinity) < grace
  if (!slot.isSpareStarting || threads.some(isAble)) slot.endServing(overdue(name, grace))
}
