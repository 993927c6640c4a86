import type { Service } from '../config/app.ts'
import { type BusbarError, restoreError } from '../contract/errors.ts'
import { needsUnmet, notServedIn, timeToServe } from '../shared/service-needs.ts'
import type { WorkerStatus } from './workers/worker-status.ts'

/**
 * Why a worker with these `hosts` cannot start: one of its services needs another that serves
 * nowhere and is not about to serve. Undefined if it can start.
 */
export function unmetNeed(
  hosts: WorkerStatus['hosts'],
  services: readonly Service[],
  workers: readonly WorkerStatus[],
): BusbarError | undefined {
  const isHere = (service: string): boolean => hosts.some(({ name }) => name === service)
  for (const { name, needs } of services.filter((service) => isHere(service.name)))
    for (const needed of needs) {
      const slots = workers.filter((worker) => worker.hosts.some((host) => host.name === needed))
      const why = isHere(needed) ? undefined : whyDown(slots)
      if (why !== undefined) return restoreError(needsUnmet(name, needed, why))
    }
  return undefined
}

/**
 * Resolves when all services that `service` needs serve. Rejects with NEEDS_UNMET when one does not
 * serve in time.
 */
export async function needsMet(
  service: Service,
  services: readonly Service[],
  untilServed: (needed: string, limit: number) => Promise<boolean>,
): Promise<void> {
  const limit = timeToServe(service, services)
  const waiting = service.needs.map(async (needed) => {
    if (!(await untilServed(needed, limit))) throw restoreError(needsUnmet(service.name, needed, notServedIn(limit)))
  })
  await Promise.all(waiting)
}

/** Undefined if one of the slots serves or is about to. */
function whyDown(slots: readonly WorkerStatus[]): string | undefined {
  if (slots.length === 0 || !slots.every(isDown)) return undefined
  const { lastExit } = slots[0]!
  const last = lastExit === undefined ? '' : `; the last time, ${lastExit.text}`
  return `does not start${last}`
}

function isDown({ state, lastExit }: WorkerStatus): boolean {
  return state === 'waiting' && lastExit?.why === 'start'
}
