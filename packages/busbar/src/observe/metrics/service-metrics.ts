import * as z from 'zod'
import {
  decodeReport,
  isReserved,
  type Point,
  sampleLabel,
  type ServiceMetric,
  type ServiceMetricsReport,
  type ServiceSeries,
  serviceMetricTypes,
} from '../../shared/metrics/service-metrics.ts'
import { metrics as ownMetrics } from './metrics.ts'
import {
  mergeMetrics,
  type RefusedMetric,
  type ReportedMetric,
  type ServiceMetricsView,
  sumOf,
} from './service-families.ts'

/** How many series of one service in one slot continue those of workers that have ended. */
const maxKept = 10_000

const anyNumber = z
  .number()
  .or(z.nan())
  .or(z.literal([Infinity, -Infinity]))
const points = z.array(z.tuple([z.number().or(z.literal(Infinity)), anyNumber])).max(1000)
const labelSchema = z
  .string()
  .regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/)
  .refine((label) => !isReserved(label))
const seriesSchema: z.ZodType<ServiceSeries> = z.object({
  labels: z.record(labelSchema, z.string()),
  value: anyNumber,
  count: z.number().exactOptional(),
  buckets: (points as z.ZodType<readonly Point[]>).exactOptional(),
  quantiles: (points as z.ZodType<readonly Point[]>).exactOptional(),
})
const metricSchema = z.object({
  service: z.string(),
  // The name of a counter in OpenMetrics is what is before `_total`.
  name: z.string().regex(/^(?!_total$)[a-zA-Z_:][a-zA-Z0-9_:]*$/),
  type: z.enum(serviceMetricTypes),
  help: z.string(),
  series: z.array(z.unknown()),
})
const reportSchema = z.object({
  metrics: z.array(z.unknown()),
  dropped: z.record(z.string(), z.number()),
})

/** How many metrics there are warnings of. */
const maxWarned = 1000

/** What was counted by workers of a slot that have ended. */
type Kept = Map<string, { readonly metric: ServiceMetric; readonly series: Map<string, ServiceSeries> }>

interface Reporter {
  readonly slot: number
  readonly services: ReadonlySet<string>
  report: ServiceMetricsReport
}

/**
 * The metrics of services, as their workers report them. Counters, histograms and the sums of
 * summaries continue when a worker is replaced; gauges are those of living workers.
 */
export class ServiceMetrics {
  readonly #reporters = new Map<number, Reporter>()
  /** By slot. */
  readonly #kept = new Map<number, Kept>()
  readonly #warn: (line: string) => void
  readonly #warned = new Set<string>()

  constructor(warn: (line: string) => void) {
    this.#warn = warn
  }

  /** `worker`: the number of the worker, which no other worker of its slot has had. */
  report(
    worker: number,
    spec: { readonly index: number; readonly hosts: readonly { name: string }[] },
    json: string,
  ): void {
    const services = new Set(spec.hosts.map(({ name }) => name))
    const report = read(json, (service, name) => this.#warnOfInvalid(services, service, name))
    if (report === undefined) return
    this.#reporters.set(worker, { slot: spec.index, services, report })
    this.#warnOf(this.read().refused)
  }

  /** Its counts stay. */
  ended(worker: number): void {
    const reporter = this.#reporters.get(worker)
    if (reporter === undefined) return
    this.#reporters.delete(worker)
    const { slot } = reporter
    const kept: Kept = this.#kept.get(slot) ?? new Map()
    this.#kept.set(slot, kept)
    for (const metric of metricsOf(reporter)) keep(kept, metric)
  }

  /** Once for each metric. */
  #warnOf(refused: readonly RefusedMetric[]): void {
    const fresh = refused.filter(({ service, name }) => !this.#warned.has(`${service} ${name}`))
    for (const { service, name } of fresh) this.#warned.add(`${service} ${name}`)
    for (const [service, all] of Map.groupBy(fresh, (one) => one.service)) {
      const names = [...new Set(all.map(({ name }) => name))].join(', ')
      this.#warn(
        `metrics of service '${service}' are left out, because Busbar, another service or another of its metrics has these names: ${names}`,
      )
    }
  }

  /** A program that forges messages of its worker does not speak for others. */
  #warnOfInvalid(services: ReadonlySet<string>, service: unknown, name: unknown): void {
    if (typeof service !== 'string' || !services.has(service)) return
    const metric = String(name).slice(0, 200)
    const key = `invalid ${service} ${metric}`
    if (this.#warned.has(key) || this.#warned.size >= maxWarned) return
    this.#warned.add(key)
    this.#warn(
      `metric '${metric}' of service '${service}' has a name, values or labels that Prometheus cannot have: they are left out`,
    )
  }

  read(): ServiceMetricsView {
    const metrics: ReportedMetric[] = []
    const dropped = new Map<string, { service: string; worker: string; count: number }>()
    for (const [slot, kept] of this.#kept)
      for (const { metric, series } of kept.values())
        metrics.push({ ...metric, worker: `${slot}`, series: [...series.values()] })
    for (const reporter of this.#reporters.values()) {
      const worker = `${reporter.slot}`
      for (const metric of metricsOf(reporter)) metrics.push({ ...metric, worker })
      for (const [service, count] of Object.entries(reporter.report.dropped))
        dropped.set(`${worker} ${service}`, { service, worker, count })
    }
    return { ...mergeMetrics(metrics, ownMetrics), dropped: [...dropped.values()] }
  }
}

/**
 * What is no valid metric or series is left out alone, and `invalid` is called: one metric of one
 * service must not stop the others. A program that forges messages of its worker must not end the
 * supervisor either.
 */
function read(json: string, invalid: (service: unknown, name: unknown) => void): ServiceMetricsReport | undefined {
  try {
    const { data } = reportSchema.safeParse(decodeReport(json))
    return data && { ...data, metrics: data.metrics.flatMap((metric) => readMetric(metric, invalid)) }
  } catch {
    return undefined
  }
}

function readMetric(given: unknown, invalid: (service: unknown, name: unknown) => void): ServiceMetric[] {
  const { data } = metricSchema.safeParse(given)
  const series = data?.series.flatMap((one) => readSeries(one, data.type))
  if (data !== undefined && series?.length === data.series.length) return [{ ...data, series }]
  const { service, name } = Object(given) as { service?: unknown; name?: unknown }
  invalid(service, name)
  return data === undefined ? [] : [{ ...data, series: series! }]
}

function readSeries(given: unknown, type: ServiceMetric['type']): ServiceSeries[] {
  const { data } = seriesSchema.safeParse(given)
  const sample = sampleLabel[type]
  return data === undefined || (sample !== undefined && Object.hasOwn(data.labels, sample)) ? [] : [data]
}

function metricsOf({ report, services }: Reporter): ServiceMetric[] {
  return report.metrics.filter(({ service }) => services.has(service))
}

function keep(kept: Kept, metric: ServiceMetric): void {
  if (metric.type === 'gauge' || metric.type === 'unknown') return
  const key = `${metric.service} ${metric.name}`
  let known = kept.get(key)
  if (known?.metric.type !== metric.type) kept.set(key, (known = { metric, series: new Map() }))
  for (const { quantiles: _, ...series } of metric.series) {
    const labels = JSON.stringify(series.labels)
    const before = known.series.get(labels)
    if (before === undefined && known.series.size >= maxKept) continue
    known.series.set(labels, before === undefined ? series : sumOf(before, series))
  }
}
