import type { Registry } from 'prom-client'
import type { Point, ServiceMetric, ServiceSeries } from '../../shared/metrics/service-metrics.ts'
import { settlesWithin } from '../../shared/settles-within.ts'
import type { EnterService } from './meter-provider.ts'

/** What is used of a copy of prom-client. */
export interface PromClient {
  readonly register: Registry
}

/** As `getMetricsAsJSON()` of prom-client answers. */
interface PromMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly values: readonly PromValue[]
}

interface PromValue {
  readonly value: number
  readonly labels?: Readonly<Record<string, string | number | undefined>>
  readonly metricName?: string
}

/** Milliseconds. Metrics may be collected by code of the service that never ends. */
const collectLimit = 500

export interface PromParts {
  /** The service whose code runs. */
  readonly ownerOf: () => string | undefined
  readonly enter: EnterService
  readonly warn: (service: string | undefined, line: string) => void
}

/** The default registers of the copies of prom-client in this thread. */
export class PromRegisters {
  readonly #registers: WatchedRegister[] = []
  readonly #parts: PromParts

  constructor(parts: PromParts) {
    this.#parts = parts
  }

  watch({ register }: PromClient): void {
    this.#registers.push(new WatchedRegister(register, this.#parts))
  }

  async collect(): Promise<ServiceMetric[]> {
    const all = await Promise.all(this.#registers.map((register) => register.collect()))
    return all.flat()
  }
}

class WatchedRegister {
  readonly #register: Registry
  readonly #parts: PromParts
  /** The service that has loaded it first. */
  readonly #service: string | undefined
  readonly #owners = new Map<string, string>()
  #reading: Promise<readonly PromMetric[]> | undefined
  #last: ServiceMetric[] = []
  #hasWarned = false

  /** Programs of one thread may share a copy: a metric is of the service that registers it. */
  constructor(register: Registry, parts: PromParts) {
    this.#register = register
    this.#parts = parts
    this.#service = parts.ownerOf()
    const registerMetric = register.registerMetric.bind(register)
    register.registerMetric = (metric) => {
      registerMetric(metric)
      const service = parts.ownerOf()
      if (service !== undefined) this.#owners.set((metric as unknown as PromMetric).name, service)
    }
  }

  /** Returns what was collected before, if the service does not answer in time. */
  async collect(): Promise<ServiceMetric[]> {
    try {
      this.#reading ??= this.#parts.enter(this.#service, () => this.#read())
      if (!(await settlesWithin(collectLimit, [this.#reading]))) return this.#last
      this.#last = (await this.#reading).flatMap((metric) => this.#convert(metric))
    } catch (error) {
      if (!this.#hasWarned) this.#parts.warn(this.#service, `metrics of prom-client cannot be read: ${String(error)}`)
      this.#hasWarned = true
    }
    this.#reading = undefined
    return this.#last
  }

  #read(): Promise<readonly PromMetric[]> {
    return this.#register.getMetricsAsJSON() as Promise<unknown> as Promise<readonly PromMetric[]>
  }

  #convert(metric: PromMetric): ServiceMetric[] {
    const { name, help, type, values } = metric
    const service = this.#owners.get(name) ?? this.#service
    if (service === undefined) return []
    const isSimple = type === 'counter' || type === 'gauge'
    const series = isSimple
      ? values.map(({ labels, value }) => ({ labels: textsOf(labels), value }))
      : distributions(metric)
    return [{ service, name, type, help, series }]
  }
}

interface Distribution {
  readonly labels: Record<string, string>
  value: number
  count: number
  readonly points: Point[]
}

/**
 * The series of a histogram or a summary. Its values are lines; those with the same labels make one
 * series.
 */
function distributions({ name, type, values }: PromMetric): ServiceSeries[] {
  const special = type === 'histogram' ? 'le' : 'quantile'
  const found = new Map<string, Distribution>()
  for (const { value, labels: all = {}, metricName = name } of values) {
    const { [special]: at, ...rest } = all
    const labels = textsOf(rest)
    const key = JSON.stringify(labels)
    const one = found.get(key) ?? { labels, value: 0, count: 0, points: [] }
    found.set(key, one)
    if (at !== undefined) one.points.push([at === '+Inf' ? Infinity : Number(at), value])
    else if (metricName === `${name}_sum`) one.value = value
    else if (metricName === `${name}_count`) one.count = value
  }
  return [...found.values()].map(({ points, ...one }) => ({
    ...one,
    [type === 'histogram' ? 'buckets' : 'quantiles']: points.toSorted(([a], [b]) => a - b),
  }))
}

function textsOf(labels: NonNullable<PromValue['labels']> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}
