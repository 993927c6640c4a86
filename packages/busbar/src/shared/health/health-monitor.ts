import { setTimeout as sleep } from 'node:timers/promises'
import type { HealthCheck } from '../app/supervision.ts'
import { checkHealth, type HealthTarget } from './check-health.ts'
import type { ErrorRecord } from '../../contract/errors.ts'
import type { Service } from '../app/app.ts'

/** Sent when the health of an instance changes, and after each failed check of an unhealthy one. */
export interface HealthReport {
  readonly healthy: boolean
  /** Failed checks in a row. */
  readonly failures: number
  /** Why the last check failed; empty if it passed. */
  readonly why: string
}

/** Milliseconds between the first checks of an instance that starts. The wait then doubles. */
const firstInterval = 25

/**
 * Checks one instance: at its start until the first check passes, then every `interval` until it is
 * stopped.
 */
export class HealthMonitor {
  readonly #target: HealthTarget
  readonly #check: HealthCheck
  readonly #stop = new AbortController()
  #healthy = true
  #passed = 0
  #failed = 0

  constructor(target: HealthTarget, check: HealthCheck) {
    this.#target = target
    this.#check = check
  }

  /**
   * Resolves when a check has passed: to undefined, or after `limit` milliseconds to why the last
   * one failed.
   */
  async untilHealthy(limit: number): Promise<string | undefined> {
    const deadline = performance.now() + limit
    let last: string | undefined
    for (let interval = firstInterval; ; interval = Math.min(2 * interval, this.#check.interval)) {
      const left = Math.ceil(deadline - performance.now())
      if (left <= 0 && last !== undefined) return last
      const timeout = Math.max(1, Math.min(this.#check.timeout, left))
      const failure = await checkHealth(this.#target, { ...this.#check, timeout }, this.#signal)
      if (failure === undefined) return undefined
      // That a check ran out of the last milliseconds says nothing about the instance.
      if (last === undefined || timeout === this.#check.timeout) last = failure
      await this.#pause(Math.min(interval, Math.max(0, deadline - performance.now())))
    }
  }

  /** Calls `report` from now on. Must not throw. */
  start(report: (report: HealthReport) => void): void {
    // Only the stop rejects.
    this.#run(report).catch(() => {})
  }

  stop(): void {
    this.#stop.abort()
  }

  get #signal(): AbortSignal {
    return this.#stop.signal
  }

  async #run(report: (report: HealthReport) => void): Promise<void> {
    for (;;) {
      await this.#pause(this.#check.interval)
      const failure = await checkHealth(this.#target, this.#check, this.#signal)
      const next = failure === undefined ? this.#pass() : this.#fail(failure)
      if (next !== undefined) report(next)
    }
  }

  #pass(): HealthReport | undefined {
    this.#failed = 0
    this.#passed++
    if (this.#healthy || this.#passed < this.#check.healthyAfter) return undefined
    this.#healthy = true
    return { healthy: true, failures: 0, why: '' }
  }

  #fail(why: string): HealthReport | undefined {
    this.#passed = 0
    this.#failed++
    if (this.#failed >= this.#check.unhealthyAfter) this.#healthy = false
    return this.#healthy ? undefined : { healthy: false, failures: this.#failed, why }
  }

  /** Rejects when the monitor is stopped. */
  #pause(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { signal: this.#signal, ref: false })
  }
}

/** `failure`: why the last check failed. */
export function healthNeverPassed({ name, startTimeout }: Service, failure: string): ErrorRecord {
  return {
    code: 'PROGRAM_START_TIMEOUT',
    message: `service '${name}' listens, but its health check did not pass within ${startTimeout} ms; the last time, ${failure}`,
    hint: `The path must answer with a status from 200 to 399; raise services.${name}.startTimeout if it needs longer.`,
    service: name,
  }
}
