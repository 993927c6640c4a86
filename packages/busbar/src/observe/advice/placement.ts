/** Where services run, as far as it decides what calls cost. */
import type { App, Service } from '../../config/app.ts'
import { copiesIn, type FolderInUse } from '../../config/services/shared-folders.ts'
import type { MeasuredTransport } from './placement-costs.ts'

export interface Place {
  readonly run: Service['run']
  readonly group: string | undefined
  /** How many workers its services share. */
  readonly workers: number
}

export interface PlacedService extends Place {
  readonly name: string
  readonly kind: Service['kind']
  /** Where it was to run. It does not if it is a copy of another service. */
  readonly asked: Pick<Place, 'run' | 'group'>
  /** Why it stays where it is. Undefined: it may be moved. */
  readonly fixed: string | undefined
}

export interface Placement {
  /** In start order. */
  readonly services: ReadonlyMap<string, PlacedService>
  /** Of the services that share a folder. */
  readonly folders: ReadonlyMap<string, FolderInUse>
  readonly sharedWorkers: number
  /** The only entry is a program that gets the connections itself: there is no gateway. */
  readonly isRaw: boolean
}

/** `isRaw`: as `isRawEntry` says. */
export function placementOf(app: App, isRaw: boolean, folders: Placement['folders']): Placement {
  const services = app.services.map((service): PlacedService => {
    const { name, kind, run, instances } = service
    const group = run === 'thread' ? service.group : undefined
    const workers = run === 'shared' ? app.workers : instances
    const asked = service.asked ?? { run, group }
    return { name, kind, run, group, workers, asked, fixed: fixedBecause(service) }
  })
  return { services: new Map(services.map((one) => [one.name, one])), folders, sharedWorkers: app.workers, isRaw }
}

/**
 * Undefined: the app would run otherwise. Of services that cannot share a thread, the config puts
 * all but the first one elsewhere.
 */
export function placedAt(placement: Placement, moves: ReadonlyMap<string, Service['run']>): Placement | undefined {
  const services = new Map(placement.services)
  for (const [name, run] of moves) {
    const { workers, ...service } = services.get(name)!
    if (service.run === run) continue
    // A service that leaves the shared workers gets one worker of its own, as `move` does it.
    const next = run === 'shared' ? placement.sharedWorkers : service.run === 'shared' ? 1 : workers
    const place = { run, group: undefined }
    services.set(name, { ...service, ...place, asked: place, workers: next })
  }
  const asked = [...services.values()].map(({ name, asked: place }) => ({ name, ...place }))
  const copies = copiesIn(asked, placement.folders)
  const isAsMoved = asked.every(({ name, run, group }) => {
    const place = services.get(name)!
    const becomes = copies.has(name) ? { run: 'thread', group: undefined } : { run, group }
    return place.run === becomes.run && place.group === becomes.group
  })
  return isAsMoved ? { ...placement, services } : undefined
}

/** Services of one location share its workers. The gateway is where shared services are. */
export function locationOf(service: string, { services }: Placement): string {
  const place = services.get(service)
  if (place === undefined || place.run === 'shared') return 'shared'
  return place.group === undefined ? `${place.run} ${service}` : `group ${place.group}`
}

export function workersAt(service: string, { services, sharedWorkers }: Placement): number {
  return Math.max(1, services.get(service)?.workers ?? sharedWorkers)
}

/** Undefined: `callee` is no service of this app, and the call stays as it is. */
export function transportBetween(caller: string, callee: string, placement: Placement): MeasuredTransport | undefined {
  const [from, to] = [placement.services.get(caller), placement.services.get(callee)]
  if (to === undefined || (from === undefined && caller !== '')) return undefined
  if (to.kind === 'command' || from?.kind === 'command') return 'unix'
  if (caller === '' && placement.isRaw) return 'local'
  if (locationOf(caller, placement) === locationOf(callee, placement)) return 'local'
  return from?.run === 'process' || to.run === 'process' ? 'unix' : 'thread'
}

function fixedBecause(service: Service): string | undefined {
  if (service.kind === 'command') return 'it is a command'
  if (service.double === true) return 'a test double replaces it'
  if (service.queueSettings !== undefined) return 'it owns the queue'
  if (service.copyOf !== undefined) return `it is a copy of ${service.copyOf}`
  if (service.run === 'thread' && service.group !== undefined) return `it is in the group ${service.group}`
  if (service.spare) return 'it has a spare thread'
  if (service.concurrency !== undefined) return 'it has a concurrency'
  if (service.permissions !== undefined) return 'it has permissions'
  if (service.memory !== undefined) return 'it has a memory limit'
  if (service.nodeOptions.length + service.entry.nodeOptions.length > 0) return 'it has flags of Node'
  return undefined
}
