import type { Registry } from 'prom-client'
import {
  isReserved,
  maxServiceSamples,
  type Point,
  renamedLabel,
  sampleLabel,
  samplesOfSeries,
  type ServiceSeries,
} from '../../shared/metrics/service-metrics.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import type { MeterParts } from './meter-provider.ts'
import type { CollectedMetric } from './service-metrics.ts'

/** What is used of a copy of prom-client. */
export interface PromClient {
  readonly register: Registry
}

/** As `getMetricsAsJSON()` of prom-client answers. */
interface PromMetric {
  readonly name: string
  /** Programs in JavaScript may have anything here. */
  readonly help: unknown
  readonly type?: 'counter' | 'gauge' | 'histogram' | 'summary' | 'unknown'
  readonly values: readonly PromValue[]
  /** Values beyond the limit of a report. They are not copied, which would block the thread. */
  readonly unread?: number
}

interface PromValue {
  readonly value: unknown
  readonly labels?: Readonly<Record<string, string | number | undefined>> | undefined
  readonly metricName?: string | undefined
}

/** Milliseconds. A metric may be collected by code of the service that never ends. */
const collectLimit = 500
/** Of all metrics, if a copy of prom-client reads them in another way. */
const registerLimit = 2 * collectLimit

/** The default registers of the copies of prom-client in this thread. */
export class PromRegisters {
  readonly #registers: WatchedRegister[] = []
  readonly #parts: MeterParts

  constructor(parts: MeterParts) {
    this.#parts = parts
  }

  watch({ register }: PromClient): void {
    this.#registers.push(new WatchedRegister(register, this.#parts))
  }

  async collect(): Promise<CollectedMetric[]> {
    const all = await Promise.all(this.#registers.map((register) => register.collect()))
    return all.flat()
  }
}

class WatchedRegister {
  readonly #bounded: Registry
  readonly #metrics = new WeakMap<object, BoundedMetric>()
  readonly #parts: MeterParts
  /** The service that has loaded it first. */
  readonly #service: string | undefined
  readonly #owners = new Map<string, string>()
  #reading: Promise<readonly PromMetric[]> | undefined
  #last: CollectedMetric[] = []
  #hasWarned = false

  /** Programs of one thread may share a copy: a metric is of the service that registers it. */
  constructor(register: Registry, parts: MeterParts) {
    this.#parts = parts
    this.#service = parts.ownerOf()
    const registerMetric = register.registerMetric.bind(register)
    register.registerMetric = (metric) => {
      registerMetric(metric)
      const service = parts.ownerOf()
      if (service !== undefined) this.#owners.set((metric as unknown as PromMetric).name, service)
    }
    // With the default labels of the register, and each metric within its time.
    this.#bounded = Object.create(register, {
      getMetricsAsArray: { value: () => register.getMetricsAsArray().map((metric) => this.#boundedOf(metric)) },
    }) as Registry
  }

  /** Returns what was collected before, if the service does not answer in time. */
  async collect(): Promise<CollectedMetric[]> {
    try {
      this.#reading ??= this.#parts.enter(this.#service, () => this.#read())
      if (!(await settlesWithin(registerLimit, [this.#reading]))) return this.#last
      this.#last = (await this.#reading).flatMap((metric) => this.#convert(metric))
    } catch (error) {
      if (!this.#hasWarned) this.#parts.warn(this.#service, `metrics of prom-client cannot be read: ${String(error)}`)
      this.#hasWarned = true
    }
    this.#reading = undefined
    return this.#last
  }

  async #read(): Promise<readonly PromMetric[]> {
    // Before version 13 it is no promise, but a list of what `get()` returns.
    const metrics = (await this.#bounded.getMetricsAsJSON()) as readonly unknown[]
    return (await Promise.all(metrics)) as readonly PromMetric[]
  }

  /** Made once, so that it knows what the metric had before. */
  #boundedOf(metric: object): BoundedMetric {
    const known = this.#metrics.get(metric)
    if (known !== undefined) return known
    const read = new BoundedMetric(metric as RegisteredMetric, (what) => {
      const { name } = metric as RegisteredMetric
      const service = this.#ownerOf(name)
      if (service !== undefined) this.#parts.warn(service, `metric '${name}' of service '${service}' ${what}`)
    })
    this.#metrics.set(metric, read)
    return read
  }

  #ownerOf(name: string): string | undefined {
    return this.#owners.get(name) ?? this.#service
  }

  #convert(metric: PromMetric): CollectedMetric[] {
    const { name, help, type = 'unknown', unread = 0 } = metric
    const service = this.#ownerOf(name)
    if (service === undefined) return []
    const head = { service, name, type, help: String(help) }
    if (type !== 'histogram' && type !== 'summary') {
      const series = metric.values.map(({ labels, value }) => ({
        labels: reportedLabels(labels),
        value: Number(value),
      }))
      return [{ ...head, series, unread }]
    }
    const series = distributions(metric)
    if (unread === 0) return [{ ...head, series }]
    // The last one is not complete.
    const last = series.pop()
    const lines = last === undefined ? 1 : samplesOfSeries(last)
    return [{ ...head, series, unread: 1 + Math.ceil(unread / lines) }]
  }
}

interface RegisteredMetric extends Omit<PromMetric, 'values'> {
  /** Runs the service's `collect()`. */
  get(): PromMetric | Promise<PromMetric>
}

/**
 * A metric whose `collect()` may fail or never end: it then has its last values, and the others of
 * its register have their own. Its values are plain copies, since the code that reads a register
 * has all metrics or none.
 */
class BoundedMetric {
  readonly #metric: RegisteredMetric
  readonly #warn: (what: string) => void
  #reading: Promise<void> | undefined
  #last: PromMetric
  #hasWarned = false

  constructor(metric: RegisteredMetric, warn: (what: string) => void) {
    this.#metric = metric
    this.#warn = warn
    this.#last = this.#plain(metric, [])
  }

  async get(): Promise<PromMetric> {
    // What does not end is not started again, and waited for once.
    if (this.#reading !== undefined) return this.#last
    this.#reading = this.#read().finally(() => (this.#reading = undefined))
    if (!(await settlesWithin(collectLimit, [this.#reading])))
      this.#warnOnce(`keeps its last values: its collect() has not ended within ${collectLimit} ms`)
    return this.#last
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    try {
      const read = (await this.#metric.get()) as PromMetric | undefined
      // A program may register objects of its own.
      if (Array.isArray(read?.values)) this.#last = this.#plain(read, read.values)
      else this.#warnOnce('keeps its last values: it has no values')
    } catch (error) {
      const text = orElse(() => String(error), typeof error)
      this.#warnOnce(`keeps its last values: its collect() has failed: ${text}`)
    }
  }

  #plain({ name, help, type }: Omit<PromMetric, 'values'>, all: readonly PromValue[]): PromMetric {
    const values = all.slice(0, maxServiceSamples)
    const plain = values.flatMap((one) => orElse(() => [plainValue(one)], []))
    if (plain.length < values.length) this.#warnOnce('has values or labels that have no text: they are left out')
    return {
      name: typeof name === 'string' ? name : this.#metric.name,
      help: orElse(() => String(help), ''),
      type: typeof type === 'string' ? type : 'unknown',
      values: plain,
      unread: all.length - values.length,
    }
  }

  #warnOnce(what: string): void {
    if (!this.#hasWarned) this.#warn(what)
    this.#hasWarned = true
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
  const special = sampleLabel[type!]!
  const found = new Map<string, Distribution>()
  for (const { value: given, labels: all = {}, metricName = name } of values) {
    const value = Number(given)
    const { [special]: at, ...rest } = all
    const labels = reportedLabels(rest)
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

/** Throws if it has no number, or a label has no text. */
function plainValue({ value, labels, metricName }: PromValue): PromValue {
  return { value: Number(value), labels: textsOf(labels), metricName }
}

/** For code of services, such as `valueOf()`, which may throw. */
function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

function reportedLabels(labels: PromValue['labels']): Record<string, string> {
  const texts = Object.entries(textsOf(labels))
  return Object.fromEntries(texts.map(([name, text]) => [renamedLabel(name, isReserved), text]))
}

function textsOf(labels: PromValue['labels'] = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}
