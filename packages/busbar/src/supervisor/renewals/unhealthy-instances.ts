import type { App } from '../../config/app.ts'
import type { HealthReport } from '../../shared/health/health-monitor.ts'
import { workerLabel } from '../plan.ts'
import type { WorkerHandle } from '../workers/worker-handle.ts'
import type { SlotTable } from '../generations/slot-table.ts'
import type { Renewals } from './renewals.ts'

export interface UnhealthyInstancesParts {
  readonly app: () => App
  readonly slots: Pick<SlotTable, 'current'>
  readonly renewals: Renewals
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/** Logs the health of instances, and replaces the workers of those that stay unhealthy. */
export class UnhealthyInstances {
  readonly #parts: UnhealthyInstancesParts
  /** The services of each worker whose last report was of failed checks. */
  readonly #failing = new WeakMap<WorkerHandle, Set<string>>()

  constructor(parts: UnhealthyInstancesParts) {
    this.#parts = parts
  }

  report(worker: WorkerHandle, service: string, { healthy, failures, why }: HealthReport): void {
    const { app, slots, renewals, log } = this.#parts
    const where = `service '${service}' in worker ${workerLabel(worker.spec)}`
    const failing = this.#failing.get(worker) ?? new Set()
    this.#failing.set(worker, failing)
    if (healthy) {
      if (failing.delete(service)) log('info', `${where} is healthy again`)
      return
    }
    if (!failing.has(service)) log('warn', `${where} is unhealthy and gets no new calls: ${why}`)
    failing.add(service)
    const limit = app().services.find(({ name }) => name === service)?.health?.restartAfter
    const slot = slots.current.find(({ serving }) => serving === worker)
    if (slot === undefined || limit === undefined || limit === false || failures < limit) return
    renewals.request(slot, `${failures} health checks of service '${service}' failed in a row; the last time, ${why}`)
  }
}
