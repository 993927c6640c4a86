import type { App } from '../config/app.ts'
import type { Place } from './plan.ts'

/** Stands for a worker's gateway among the services that run in it. */
const gateway = ''

/**
 * When all of the app stops: each service after those that need it, whichever workers they are in, and all of them after
 * the gateways.
 */
export class StopOrder {
  /** By worker, what still runs in it. */
  readonly #running: ReadonlyMap<number, Set<string>>
  /** By service that has not been released, who needs it. */
  readonly #neededBy: Map<string, readonly string[]>
  readonly #release: (service: string) => void

  /** `release` is told once of each service when nobody who needs it runs any more. */
  constructor(
    { services }: App,
    workers: readonly { readonly worker: number; readonly place: Place }[],
    release: (service: string) => void,
  ) {
    this.#running = new Map(workers.map(({ worker, place }) => [worker, new Set(runningIn(place))]))
    this.#neededBy = new Map(
      services.map(({ name }) => [
        name,
        [gateway, ...services.filter(({ needs }) => needs.includes(name)).map((one) => one.name)],
      ]),
    )
    this.#release = release
    this.#review()
  }

  /** `service` undefined: the gateway. */
  closed(worker: number, service: string = gateway): void {
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

function runningIn({ kind, hosts }: Place): string[] {
  return [...(kind === 'shared' ? [gateway] : []), ...hosts.map(({ name }) => name)]
}
