import type { App } from '../../config/app.ts'
import type { HealthReport } from '../../shared/health/health-monitor.ts'
import type { WorkerHandle } from '../workers/worker-handle.ts'
import type { SlotTable } from '../generations/slot-table.ts'
import { Renewals, type RenewalsParts } from './renewals.ts'
import { ScheduledRenewals } from './scheduled-renewals.ts'
import { UnhealthyInstances } from './unhealthy-instances.ts'

export interface CaretakerParts extends RenewalsParts {
  readonly app: () => App
  readonly slots: Pick<SlotTable, 'current'>
  /** The health of an instance may have changed. */
  readonly changed: () => void
}

/**
 * Replaces workers that serve but should not go on: by health checks, `cronRestart` and
 * `maxUptime`.
 */
export class Caretaker {
  readonly #unhealthy: UnhealthyInstances
  readonly #scheduled: ScheduledRenewals
  readonly #changed: () => void

  constructor(parts: CaretakerParts) {
    const renewals = new Renewals(parts)
    this.#changed = parts.changed
    this.#unhealthy = new UnhealthyInstances({ ...parts, renewals })
    this.#scheduled = new ScheduledRenewals({ ...parts, renewals })
  }

  health(worker: WorkerHandle, service: string, report: HealthReport): void {
    this.#unhealthy.report(worker, service, report)
    this.#changed()
  }

  /** Follows the app as it is now: call it again when its services have changed. */
  update(): void {
    this.#scheduled.update()
  }

  /** Returns a function that ends it. */
  open(): () => void {
    this.update()
    return () => this.#scheduled.close()
  }
}
