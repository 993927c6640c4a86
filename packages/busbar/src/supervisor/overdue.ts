import type { App, Service } from '../config/app.ts'
import { threadsNow } from '../shared/cells.ts'
import type { InstanceTable } from '../shared/instances.ts'
import { overdue } from './exit.ts'
import type { WorkerSlot } from './slot.ts'

export interface OverdueParts {
  readonly slots: readonly WorkerSlot[]
  readonly app: () => App
  readonly instances: InstanceTable
  readonly interval: number
}

/**
 * Ends the threads of services with a `concurrency` that still compute a call which was over `grace` ago: no message can reach
 * such a thread. Another one starts when half of that has passed, and has begun to serve when it is needed, so there is no
 * need to keep one at hand that is not. Returns what ends the watch.
 */
export function watchOverdue({ slots, app, instances, interval }: OverdueParts): () => void {
  const own = slots.filter(({ place }) => place.kind === 'thread')
  const timer = setInterval(() => {
    for (const slot of own) look(slot, app().services, instances)
  }, interval)
  return () => clearInterval(timer)
}

function look(slot: WorkerSlot, services: readonly Service[], instances: InstanceTable): void {
  const { place, serving } = slot
  const hosted = services.filter(({ name }) => place.hosts.some((host) => host.name === name))
  // One that has no limit would lose more than the call.
  if (serving === undefined || hosted.some(({ concurrency }) => concurrency === undefined)) return
  const now = threadsNow()
  const age = serving.age(now)
  // Once the thread has turned, it has heard that the call is over.
  const lateBy = (name: string): number => Math.min(age, instances.slots(name)!.overdue(serving.row, now))
  const late = hosted.find(({ name, grace }) => lateBy(name) > grace / 2)
  if (late === undefined) return slot.dropSpare()
  slot.prepareSpare()
  if (lateBy(late.name) > late.grace) void slot.endFor(overdue(late.name, late.grace))
}
