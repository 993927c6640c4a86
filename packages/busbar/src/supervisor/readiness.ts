import { type App, isRawEntry } from '../config/app.ts'
import type { Readiness } from '../shared/control-messages.ts'
import type { RemoteReports } from './cluster/remote-reports.ts'
import type { SlotTable } from './generations/slot-table.ts'
import type { EndReason, StartOptions } from './running-app.ts'
import type { WorkerHandle } from './workers/worker-handle.ts'
import type { WorkerStatus } from './workers/worker-status.ts'

export interface AppReadinessParts {
  readonly app: () => App
  readonly slots: Pick<SlotTable, 'current' | 'workers'>
  /** Which services of other apps can be reached. */
  readonly launcher: { readonly remotes: Pick<RemoteReports, 'isReachable'> }
  readonly entered: (phase: Readiness['phase']) => void
}

/** Whether the app is ready. Tells each gateway what its probes answer. */
export class AppReadiness {
  readonly #parts: AppReadinessParts
  #phase: Readiness['phase'] = 'starting'
  /** The state that was sent last to each worker. */
  readonly #told = new WeakMap<WorkerHandle, string>()

  constructor(parts: AppReadinessParts) {
    this.#parts = parts
  }

  get current(): Readiness {
    const { app, slots, launcher } = this.#parts
    const workers = slots.current.map(({ status }) => status)
    return readinessOf(app(), this.#phase, workers, launcher.remotes)
  }

  /**
   * Milliseconds for which an app that stops still serves, so that load balancers notice the
   * failing probes. 0 for an app that does not serve.
   */
  stopDelay({ why }: EndReason, mode: StartOptions['mode']): number {
    const waits = this.#phase === 'running' && why === 'stopped' && mode === 'start'
    return waits ? (this.#parts.app().stopDelay ?? 0) : 0
  }

  enter(phase: Readiness['phase']): void {
    this.#phase = phase
    this.review()
    this.#parts.entered(phase)
  }

  /** A worker has begun to serve or has ended, or the health of one has changed. */
  review(): void {
    const { current } = this
    const now = JSON.stringify(current)
    for (const worker of this.#parts.slots.workers) {
      if (worker.spec.kind !== 'shared' || !worker.serving || this.#told.get(worker) === now) continue
      this.#told.set(worker, now)
      worker.send({ type: 'readiness', ...current })
    }
  }
}

/** A blocked worker counts as serving: it may be doing its work. */
function readinessOf(
  app: App,
  phase: Readiness['phase'],
  workers: readonly WorkerStatus[],
  remotes: Pick<RemoteReports, 'isReachable'>,
): Readiness {
  const hosting = (service: string): WorkerStatus[] =>
    workers.filter(({ hosts }) => hosts.some(({ name }) => name === service))
  const isServed = (service: string): boolean =>
    hosting(service).some(({ state, unhealthy }) => state === 'serving' && !unhealthy.has(service))
  const hasGateway = isRawEntry(app) || workers.some(({ kind, state }) => kind === 'shared' && state === 'serving')
  const names = app.services.map(({ name }) => name).filter((name) => !isServed(name))
  // A service that needs one of another app serves nothing of use without it.
  const cutOff = app.services
    .filter(
      ({ name, remoteNeeds = [] }) =>
        !names.includes(name) && remoteNeeds.some((one) => remotes.isReachable(one) === false),
    )
    .map(({ name }) => name)
  return {
    phase,
    unready: [...(hasGateway ? [] : ['gateway']), ...names, ...cutOff],
    unhealthy: names.filter((name) => !hosting(name).some(({ state }) => state === 'starting')),
  }
}
