import type { App } from '../config/app.ts'
import type { SlotSpec } from './plan.ts'

/**
 * Stands for what comes from outside among the services that run in a worker: by the gateway, or by
 * the links of other apps. Each worker may have links, and forwards their calls to other workers.
 */
const outside = ''

/**
 * The order in which the services of a stopping app may stop: each one after all services that need
 * it, in any worker, and all of them after the gateways.
 */
export class StopSequence {
  /** By worker: the services that still run in it. */
  readonly #running: ReadonlyMap<number, Set<string>>
  /** By service that may not stop yet: the services that need it. */
  readonly #neededBy: Map<string, readonly string[]>
  readonly #release: (service: string) => void

  /** `release` is called once for each service, when nothing that needs it runs any more. */
  constructor(
    app: Pick<App, 'services' | 'cluster' | 'export'>,
    workers: readonly { readonly worker: number; readonly spec: SlotSpec }[],
    release: (service: string) => void,
  ) {
    this.#running = new Map(workers.map(({ worker, spec }) => [worker, new Set(runningIn(spec, app))]))
    this.#neededBy = new Map(
      app.services.map(({ name }) => [
        name,
        [outside, ...app.services.filter(({ needs }) => needs.includes(name)).map((one) => one.name)],
      ]),
    )
    this.#release = release
    this.#review()
  }

  /** `service` undefined: its gateway and its links. */
  closed(worker: number, service: string = outside): void {
    this.#running.get(worker)?.delete(service)
    this.#review()
  }

  ended(worker: number): void {
    this.#running.get(worker)?.clear()
    this.#review()
  }

  #review(): void {
    for (const [service, neededBy] of this.#neededBy) {
      const isNeeded = [...this.#running.values()].some((names) => neededBy.some((name) => names.has(name)))
      if (isNeeded) continue
      this.#neededBy.delete(service)
      this.#release(service)
    }
  }
}

function runningIn(
  { kind, hosts }: Pick<SlotSpec, 'kind' | 'hosts'>,
  { cluster, export: exported }: Pick<App, 'cluster' | 'export'>,
): string[] {
  const hasLinks = kind !== 'command' && (cluster !== undefined || exported !== undefined)
  return [...(kind === 'shared' || hasLinks ? [outside] : []), ...hosts.map(({ name }) => name)]
}
