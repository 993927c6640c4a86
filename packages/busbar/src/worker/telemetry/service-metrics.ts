import { setTimeout as sleep } from 'node:timers/promises'
import {
  encodeNumber,
  encodeReport,
  maxServiceBytes,
  maxServiceSamples,
  type ServiceMetric,
  type ServiceSeries,
  samplesOfSeries,
} from '../../shared/metrics/service-metrics.ts'
import type { Outbox } from '../reporting/outbox.ts'

/** Milliseconds between two reports. */
const interval = 1000
/** The same, if what they take of the thread would be more than {@link share}. */
const longestInterval = 30_000
/** What reports may take of the thread's time. */
const share = 0.02

/** A metric with what was not read of it. */
export interface CollectedMetric extends ServiceMetric {
  /** Series beyond the limit of a report. Default: 0. */
  readonly unread?: number
}

/**
 * Reports the metrics of this worker's services to the supervisor if they have changed: once a
 * second, or less often if there are so many that a report takes long.
 */
export class ServiceMetricsReporter {
  readonly #collect: () => Promise<readonly CollectedMetric[]>
  readonly #outbox: Outbox
  /** For the next report. Undefined before there are metrics. */
  #timer: NodeJS.Timeout | undefined
  #isFinishing = false
  #collecting: Promise<void> | undefined
  #last = ''
  readonly #warned = new Set<string>()

  constructor(collect: () => Promise<readonly CollectedMetric[]>, outbox: Outbox) {
    this.#collect = collect
    this.#outbox = outbox
  }

  /** A service has metrics. */
  start(): void {
    if (this.#timer === undefined) this.#reportIn(interval)
  }

  /** The worker is about to end. At most `limit` milliseconds. */
  async finish(limit: number): Promise<void> {
    if (this.#timer === undefined) return
    this.#isFinishing = true
    clearTimeout(this.#timer)
    await Promise.race([this.#report().then(() => this.#report()), sleep(limit, undefined, { ref: false })])
  }

  #reportIn(pause: number): void {
    this.#timer = setTimeout(() => void this.#reportAndGoOn(), pause).unref()
  }

  async #reportAndGoOn(): Promise<void> {
    const before = process.threadCpuUsage()
    await this.#report()
    const { user, system } = process.threadCpuUsage(before)
    const took = (user + system) / 1000
    if (!this.#isFinishing) this.#reportIn(Math.min(Math.max(interval, took / share), longestInterval))
  }

  #report(): Promise<void> {
    this.#collecting ??= this.#send().finally(() => (this.#collecting = undefined))
    return this.#collecting
  }

  /** Never rejects. */
  async #send(): Promise<void> {
    const { metrics, dropped } = bounded(await this.#collect())
    this.#warn(dropped)
    const json = encodeReport({ metrics, dropped })
    if (json === this.#last) return
    this.#last = json
    this.#outbox.post({ type: 'metrics', json })
  }

  #warn(dropped: Readonly<Record<string, number>>): void {
    for (const [service, count] of Object.entries(dropped)) {
      if (this.#warned.has(service)) continue
      this.#warned.add(service)
      const line = `service '${service}' has too many metrics: a worker reports ${maxServiceSamples} samples and ${maxServiceBytes} bytes at most, so ${count} of its series are not shown`
      this.#outbox.log({ time: Date.now(), level: 'warn', service, stream: 'busbar', line })
    }
  }
}

/** Leaves out the series beyond the limits. */
function bounded(metrics: readonly CollectedMetric[]): { metrics: ServiceMetric[]; dropped: Record<string, number> } {
  let [samples, bytes] = [0, 0]
  const dropped: Record<string, number> = {}
  const fits = (service: string, one: ServiceSeries): boolean => {
    const [more, size] = [samplesOfSeries(one), JSON.stringify(one, encodeNumber).length]
    const room = samples + more <= maxServiceSamples && bytes + size <= maxServiceBytes
    if (room) [samples, bytes] = [samples + more, bytes + size]
    else dropped[service] = (dropped[service] ?? 0) + 1
    return room
  }
  const kept = metrics.map(({ unread = 0, ...metric }) => {
    const { service, name, help, series } = metric
    bytes += name.length + help.length
    if (unread > 0) dropped[service] = (dropped[service] ?? 0) + unread
    return { ...metric, series: series.filter((one) => fits(service, one)) }
  })
  return { metrics: kept, dropped }
}
