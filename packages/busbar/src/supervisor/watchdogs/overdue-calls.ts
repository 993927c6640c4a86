import type { App, Service } from '../../config/app.ts'
import { threadsNow } from '../../shared/metrics/worker-cells.ts'
import type { InstanceTable } from '../../shared/metrics/instance-table.ts'
import { mayBeEnded } from '../plan.ts'
import { overdue } from '../workers/worker-exit.ts'
import type { WorkerSlot } from '../workers/worker-slot.ts'
import type { AbandonedCalls } from './abandoned-calls.ts'

/** Milliseconds. A call that is slightly late must not cost the start of a thread. */
const spareAfter = 100

/** Milliseconds. A change of the app may give a service its first limit. */
const idleInterval = 3000

export interface OverdueCallsParts {
  readonly slots: () => readonly WorkerSlot[]
  readonly app: () => App
  readonly launcher: { readonly instances: InstanceTable; readonly abandoned: AbandonedCalls }
  readonly interval: number
}

/**
 * Ends threads that still compute a call of a service with `concurrency` more than `grace` after
 * the call was cancelled: no message can reach such a thread. A thread without a configured spare
 * gets one shortly before that, which is mostly ready in time. Returns a function that ends the
 * watch.
 */
export function watchOverdueCalls(parts: OverdueCallsParts): () => void {
  const { slots, app, interval } = parts
  let timer: NodeJS.Timeout
  const look = (): void => {
    const { services } = app()
    const threads = slots().filter(({ spec }) => spec.kind === 'thread')
    for (const slot of threads) {
      const late = overdueIn(slot, services, parts)
      if (late === undefined) slot.dropSpare()
      else endInTime(slot, late, threads)
    }
    const isLimited = services.some(({ concurrency }) => concurrency !== undefined)
    timer = setTimeout(look, isLimited ? interval : idleInterval)
  }
  look()
  return () => clearTimeout(timer)
}

interface Overdue {
  readonly service: Service
  /** Milliseconds for which the thread has computed a cancelled call without a heartbeat. */
  readonly by: number
}

/** Undefined while no call is late. A thread with a newer heartbeat has read the cancel. */
function overdueIn(
  { spec, serving }: WorkerSlot,
  services: readonly Service[],
  { launcher: { instances, abandoned } }: OverdueCallsParts,
): Overdue | undefined {
  if (serving === undefined || !mayBeEnded(spec, services)) return undefined
  const hosted = services.filter(({ name }) => spec.hosts.some((host) => host.name === name))
  const now = threadsNow()
  const age = serving.age(now)
  const all = hosted.map((service) => {
    // Undefined for the old generation of a service that has lost its limit.
    const slots = instances.slots(service.name)
    if (slots === undefined) return { service, by: 0 }
    const over = Math.max(slots.overdue(serving.row, now), abandoned.overdue(serving, service.name, slots, now))
    return { service, by: Math.min(age, over) }
  })
  return all.find(({ service, by }) => by > Math.min(spareAfter, service.grace / 2))
}

/**
 * Without another instance that accepts calls, the thread stays until its spare serves: waiting
 * calls would fail.
 */
function endInTime(slot: WorkerSlot, { service, by }: Overdue, threads: readonly WorkerSlot[]): void {
  const { name, grace } = service
  slot.prepareSpare()
  if (by <= grace) return
  const now = threadsNow()
  const canServe = (other: WorkerSlot): boolean =>
    other !== slot &&
    other.spec.hosts.some((host) => host.name === name) &&
    (other.serving?.age(now) ?? Infinity) < grace
  if (!slot.isSpareStarting || threads.some(canServe)) slot.endServing(overdue(name, grace))
}
