import { Cron } from 'croner'
import type { App, Service } from '../../config/app.ts'
import type { WorkerSlot } from '../workers/worker-slot.ts'
import type { SlotTable } from '../generations/slot-table.ts'
import type { Renewals } from './renewals.ts'

export interface ScheduledRenewalsParts {
  readonly app: () => App
  readonly slots: Pick<SlotTable, 'current'>
  readonly renewals: Renewals
}

/** Milliseconds. `maxUptime` is at least a second, and need not be exact. */
const checkInterval = 1000

/** Replaces instances at the times of `cronRestart` and at the age of `maxUptime`. */
export class ScheduledRenewals {
  readonly #parts: ScheduledRenewalsParts
  #jobs: Cron[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(parts: ScheduledRenewalsParts) {
    this.#parts = parts
  }

  /** Follows the app as it is now. Call it again when its services have changed. */
  update(): void {
    this.close()
    const { services } = this.#parts.app()
    this.#jobs = services.flatMap((service) => this.#schedule(service))
    if (services.some(({ maxUptime }) => maxUptime !== undefined))
      this.#timer = setInterval(() => this.#checkUptimes(), checkInterval).unref()
  }

  close(): void {
    for (const job of this.#jobs) job.stop()
    this.#jobs = []
    clearInterval(this.#timer)
  }

  #schedule({ name, cronRestart }: Service): Cron[] {
    if (cronRestart === undefined) return []
    const { cron, timeZone } = cronRestart
    const options = { unref: true, ...(timeZone !== undefined && { timezone: timeZone }) }
    return [new Cron(cron, options, () => this.#renewService(name, cron))]
  }

  #renewService(service: string, cron: string): void {
    const { slots, renewals } = this.#parts
    for (const slot of slots.current)
      if (slot.spec.hosts.some(({ name }) => name === service))
        renewals.request(slot, `service '${service}' has cronRestart ${JSON.stringify(cron)}`)
  }

  #checkUptimes(): void {
    const { slots, renewals } = this.#parts
    for (const slot of slots.current) {
      const old = this.#outlivedService(slot)
      if (old !== undefined)
        renewals.request(slot, `service '${old.name}' has served for its maxUptime of ${old.maxUptime} ms`)
    }
  }

  /** A service of the slot that has served for longer than its `maxUptime`. */
  #outlivedService({ spec, status }: WorkerSlot): Service | undefined {
    if (status.state !== 'serving') return undefined
    const age = Date.now() - status.since
    return this.#parts
      .app()
      .services.find(
        ({ name, maxUptime = Infinity }) => age > maxUptime && spec.hosts.some((host) => host.name === name),
      )
  }
}
