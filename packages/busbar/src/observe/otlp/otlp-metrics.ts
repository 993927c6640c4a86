import type { Attributes } from '@opentelemetry/api'
import type { ServiceSeries } from '../../shared/metrics/service-metrics.ts'
import type { WorkerStats } from '../app-status.ts'
import type { HistogramSample, Metric, Reading, Sample } from '../metrics/prometheus.ts'
import type { MetricFamily } from '../metrics/service-families.ts'
import { instrumentationScope, resourceOf, toTime } from './otlp-resource.ts'
import { attributeNames, attributesBy } from './metric-attributes.ts'
import type { ExportedMetric, ExportedMetrics, Time } from './otlp-types.ts'

/** Numbers of OpenTelemetry's enumerations. */
const histogramPoint = 0
const gaugePoint = 2
const sumPoint = 3
const cumulative = 1
const doubleValue = 1

interface Times {
  readonly startTime: Time
  readonly endTime: Time
}

export interface OtlpMetricsParts {
  readonly attributes: Attributes
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly now: number
  readonly workers: readonly Pick<WorkerStats, 'worker' | 'startedAt'>[]
}

/**
 * Metrics of the semantic conventions have their names there, without aliases; all others have
 * those of `GET /metrics`.
 */
export function toResourceMetrics(
  readings: readonly Reading[],
  families: readonly MetricFamily[],
  { attributes, startedAt, now, workers }: OtlpMetricsParts,
): ExportedMetrics {
  const times = { startTime: toTime(startedAt), endTime: toTime(now) }
  const starts = new Map(workers.map((one) => [`${one.worker}`, toTime(one.startedAt ?? startedAt)]))
  const metrics = [
    ...readings.flatMap((reading) => ofReading(reading, times).map((one) => restarted(one, reading.metric, starts))),
    ...families.flatMap((family) => ofFamily(family, times)),
  ].filter(({ dataPoints }) => dataPoints.length > 0)
  return { resource: resourceOf(attributes), scopeMetrics: [{ scope: instrumentationScope, metrics }] }
}

export function pointsOf({ scopeMetrics }: ExportedMetrics): number {
  return scopeMetrics.flatMap(({ metrics }) => metrics).reduce((sum, { dataPoints }) => sum + dataPoints.length, 0)
}

function ofReading(reading: Reading, times: Times): ExportedMetric[] {
  const { name, help, type, convention } = reading.metric
  if (convention === null) return []
  const exported =
    'histograms' in reading
      ? histogram(name, help, reading.histograms, times)
      : simple(name, help, type === 'counter', reading.samples, times)
  if (convention === undefined) return [exported]
  return [
    {
      ...exported,
      ...(convention.isSum && { dataPointType: sumPoint, isMonotonic: false }),
      descriptor: { ...exported.descriptor, name: convention.name, unit: convention.unit },
      dataPoints: exported.dataPoints.map((point) => ({ ...point, attributes: attributesBy(point.attributes) })),
    },
  ]
}

/** A sum that begins anew has a start of its own, by which a reader tells it from a fall. */
function restarted(
  exported: ExportedMetric,
  { startsWithWorker }: Metric,
  starts: ReadonlyMap<unknown, Time>,
): ExportedMetric {
  if (startsWithWorker !== true) return exported
  const dataPoints = exported.dataPoints.map((point) => {
    const { worker, [attributeNames['worker']!]: named } = point.attributes
    return { ...point, startTime: starts.get(worker ?? named) ?? point.startTime }
  })
  return { ...exported, dataPoints }
}

/** A summary has no form of its own: its sum and its count are two metrics. */
function ofFamily({ name, help, type, series }: MetricFamily, times: Times): ExportedMetric[] {
  const all = [...series.values()]
  if (type === 'histogram') return [histogram(name, help, all.map(toHistogramSample), times)]
  if (type !== 'summary') return [simple(name, help, type === 'counter', all, times)]
  const counts = all.map(({ labels, count = 0 }) => ({ labels, value: count }))
  return [simple(`${name}_sum`, help, true, all, times), simple(`${name}_count`, help, true, counts, times)]
}

function toHistogramSample({ labels, value, buckets = [] }: ServiceSeries): HistogramSample {
  return { labels, sum: value, buckets: buckets.map(([le, count]) => ({ le, count })) }
}

function simple(
  name: string,
  help: string,
  isCounter: boolean,
  samples: readonly Sample[],
  times: Times,
): ExportedMetric {
  const dataPoints = samples.map(({ labels, value }) => ({ ...times, attributes: labels, value }))
  const common = { descriptor: descriptor(name, help), aggregationTemporality: cumulative, dataPoints }
  return isCounter
    ? { ...common, dataPointType: sumPoint, isMonotonic: true }
    : { ...common, dataPointType: gaugePoint }
}

function histogram(name: string, help: string, samples: readonly HistogramSample[], times: Times): ExportedMetric {
  return {
    descriptor: descriptor(name, help),
    aggregationTemporality: cumulative,
    dataPointType: histogramPoint,
    dataPoints: samples.map(({ labels, sum, buckets }) => ({
      ...times,
      attributes: labels,
      value: {
        sum,
        count: buckets.at(-1)?.count ?? 0,
        buckets: {
          boundaries: buckets.slice(0, -1).map(({ le }) => le),
          counts: buckets.map(({ count }, at) => count - (buckets[at - 1]?.count ?? 0)),
        },
      },
    })),
  }
}

function descriptor(name: string, description: string): ExportedMetric['descriptor'] {
  return { name, description, unit: '', valueType: doubleValue }
}
