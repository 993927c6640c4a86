import type { Service } from '../config/app.ts'
import { BusbarError } from '../contract/errors.ts'
import { needsUnmet, notServedIn, timeToServe } from '../shared/needs.ts'
import type { WorkerStatus } from './running.ts'

/**
 * Why a worker with these `hosts` would wait in vain: one of its services needs another that serves nowhere, and that the
 * supervisor does not bring back soon either. Undefined where nothing is in the way.
 */
export function unmetNeed(
  hosts: WorkerStatus['hosts'],
  services: readonly Service[],
  workers: readonly WorkerStatus[],
): BusbarError | undefined {
  const isHere = (service: string): boolean => hosts.some(({ name }) => name === service)
  for (const { name, needs } of services.filter((service) => isHere(service.name)))
    for (const needed of needs) {
      const places = workers.filter((worker) => worker.hosts.some((host) => host.name === needed))
      const why = isHere(needed) ? undefined : whyGone(places)
      if (why !== undefined) return BusbarError.fromRecord(needsUnmet(name, needed, why))
    }
  return undefined
}

/** Rejects with NEEDS_UNMET when one that it needs does not serve in time. `until` says when one does, or that it did not. */
export async function needsMet(
  service: Service,
  services: readonly Service[],
  until: (needed: string, limit: number) => Promise<boolean>,
): Promise<void> {
  const limit = timeToServe(service, services)
  const waiting = service.needs.map(async (needed) => {
    if (!(await until(needed, limit)))
      throw BusbarError.fromRecord(needsUnmet(service.name, needed, notServedIn(limit)))
  })
  await Promise.all(waiting)
}

/** Undefined where one of them serves, or is about to. */
function whyGone(places: readonly WorkerStatus[]): string | undefined {
  if (places.length === 0 || !places.every(isDown)) return undefined
  const { lastExit } = places[0]!
  const last = lastExit === undefined ? '' : `; the last time, ${lastExit.text}`
  return `does not start${last}`
}

function isDown({ state, lastExit }: WorkerStatus): boolean {
  return state === 'waiting' && lastExit?.why === 'start'
}
