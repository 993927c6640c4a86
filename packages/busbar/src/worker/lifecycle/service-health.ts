import type { Service } from '../../config/app.ts'
import type { HealthCheck } from '../../shared/app/supervision.ts'
import { restoreError } from '../../contract/errors.ts'
import type { Router } from '../../mesh/routing/router.ts'
import { connectForHealthCheck } from '../../mesh/sockets/connect.ts'
import { HealthMonitor, healthNeverPassed } from '../../shared/health/health-monitor.ts'
import type { HostedService } from '../hosted-service.ts'
import type { Outbox } from '../reporting/outbox.ts'

export interface ServiceHealthParts {
  readonly router: Router
  readonly outbox: Outbox
}

/**
 * Checks the instance of a service in this worker. It gets no calls before its first check has
 * passed, and none while it is unhealthy.
 */
export class ServiceHealth {
  readonly #service: Service
  readonly #parts: ServiceHealthParts
  readonly #monitor: HealthMonitor
  #isHealthy = true
  #watch: ((isHealthy: boolean) => void) | undefined

  constructor(service: Service & { readonly health: HealthCheck }, hosted: HostedService, parts: ServiceHealthParts) {
    const path = hosted.listener!.path
    this.#service = service
    this.#parts = parts
    this.#monitor = new HealthMonitor(
      { service: service.name, connect: () => connectForHealthCheck(path) },
      service.health,
    )
    parts.router.setLocalHealth(service.name, false)
  }

  /**
   * Resolves when the first check has passed. Rejects with PROGRAM_START_TIMEOUT after `limit`
   * milliseconds.
   */
  async untilHealthy(limit: number): Promise<void> {
    const { router, outbox } = this.#parts
    const { name } = this.#service
    const failure = await this.#monitor.untilHealthy(limit)
    if (failure !== undefined) throw restoreError(healthNeverPassed(this.#service, failure))
    router.setLocalHealth(name, true)
    this.#monitor.start((report) => {
      this.#isHealthy = report.healthy
      router.setLocalHealth(name, report.healthy)
      this.#watch?.(report.healthy)
      outbox.post({ type: 'health', service: name, ...report })
    })
  }

  /** Calls `watch` with the health now, and with each report. */
  watch(watch: (isHealthy: boolean) => void): void {
    this.#watch = watch
    watch(this.#isHealthy)
  }

  stop(): void {
    this.#monitor.stop()
  }
}
