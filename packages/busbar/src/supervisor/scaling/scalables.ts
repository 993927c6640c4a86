import type { App, Service } from '../../config/app.ts'
import type { ScalingRange } from '../../shared/app/supervision.ts'

/** What is scaled by load: a service, or the shared workers. */
export interface Scalable {
  /** Undefined: the shared workers. */
  readonly service: string | undefined
  /** Human-readable. */
  readonly name: string
  readonly range: ScalingRange
}

export function scalablesOf({ scaling, services }: App): Scalable[] {
  const shared = scaling === undefined ? [] : [{ service: undefined, name: 'the shared workers', range: scaling }]
  const own = services.flatMap(({ name, scaling: range }) =>
    range === undefined ? [] : [{ service: name, name: `service '${name}'`, range }],
  )
  return [...shared, ...own]
}

/** `service` undefined: the shared workers. */
export function withInstances(app: App, service: string | undefined, count: number): App {
  const isScaled = ({ name, run }: Service): boolean => (service === undefined ? run === 'shared' : name === service)
  const services = app.services.map((one) => (isScaled(one) ? { ...one, instances: count } : one))
  return { ...app, services, ...(service === undefined && { workers: count }) }
}

/** A config that is read again has the least number of instances; what load has added stays. */
export function keepScale(running: App, next: App): App {
  let kept = next
  for (const { service, range } of scalablesOf(next)) {
    const now =
      service === undefined ? running.workers : running.services.find(({ name }) => name === service)?.instances
    if (now !== undefined) kept = withInstances(kept, service, Math.min(range.max, Math.max(range.min, now)))
  }
  return kept
}

/** How many workers load may add to those of the start. */
export function mostAdded(app: App): number {
  return scalablesOf(app).reduce((sum, { range: { min, max } }) => sum + max - min, 0)
}
