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

/** Milliseconds. */
const interval = 1000

/**
 * Reports the metrics of this worker's services to the supervisor, once a second if they have
 * changed.
 */
export class ServiceMetricsReporter {
  readonly #collect: () => Promise<readonly ServiceMetric[]>
  readonly #outbox: Outbox
  #timer: NodeJS.Timeout | undefined
  #collecting: Promise<void> | undefined
  #last = ''
  readonly #warned = new Set<string>()

  constructor(collect: () => Promise<readonly ServiceMetric[]>, outbox: Outbox) {
    this.#collect = collect
    this.#outbox = outbox
  }

  /** A service has metrics. */
  start(): void {
    this.#timer ??= setInterval(() => void this.#report(), interval).unref()
  }

  /** The worker is about to end. At most `limit` milliseconds. */
  async finish(limit: number): Promise<void> {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    await Promise.race([this.#report().then(() => this.#report()), sleep(limit, undefined, { ref: false })])
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
function bounded(metrics: readonly ServiceMetric[]): { metrics: ServiceMetric[]; dropped: Record<string, number> } {
  let [samples, bytes] = [0, 0]
  const dropped: Record<string, number> = {}
  const fits = (service: string, one: ServiceSeries): boolean => {
    const [more, size] = [samplesOfSeries(one), JSON.stringify(one, encodeNumber).length]
    const room = samples + more <= maxServiceSamples && bytes + size <= maxServiceBytes
    if (room) [samples, bytes] = [samples + more, bytes + size]
    else dropped[service] = (dropped[service] ?? 0) + 1
    return room
  }
  const kept = metrics.map((metric) => {
    bytes += metric.name.length + metric.help.length
    return { ...metric, series: metric.series.filter((one) => fits(metric.service, one)) }
  })
  return { metrics: kept, dropped }
}
