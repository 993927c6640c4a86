import type { Attributes } from '@opentelemetry/api'
import type { ServiceSeries } from '../../shared/metrics/service-metrics.ts'
import type { WorkerStats } from '../app-status.ts'
import type { HistogramSample, Labels, Reading, Sample } from '../metrics/prometheus.ts'
import type { MetricFamily } from '../metrics/service-families.ts'
import { instrumentationScope, resourceOf, toTime } from './otlp-resource.ts'
import { attributesBy } from './metric-attributes.ts'
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

/** Of the point with these labels. */
type TimesOf = (labels: Labels) => Times

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
  const ofApp = (): Times => times
  // A sum that begins anew has a start of its own, by which a reader tells that from a fall.
  const ofWorker = ({ worker = '' }: Labels): Times => ({ ...times, startTime: starts.get(worker) ?? times.startTime })
  const metrics = [
    ...readings.flatMap((reading) => ofReading(reading, reading.metric.startsWithWorker ? ofWorker : ofApp)),
    ...families.flatMap((family) => ofFamily(family, ofApp)),
  ].filter(({ dataPoints }) => dataPoints.length > 0)
  return { resource: resourceOf(attributes), scopeMetrics: [{ scope: instrumentationScope, metrics }] }
}

export function pointsOf({ scopeMetrics }: ExportedMetrics): number {
  return scopeMetrics.flatMap(({ metrics }) => metrics).reduce((sum, { dataPoints }) => sum + dataPoints.length, 0)
}

function ofReading(reading: Reading, timesOf: TimesOf): ExportedMetric[] {
  const { name, help, type, convention } = reading.metric
  if (convention === null) return []
  const exported =
    'histograms' in reading
      ? histogram(name, help, reading.histograms, timesOf)
      : simple(name, help, type === 'counter', reading.samples, timesOf)
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

/** A summary has no form of its own: its sum and its count are two metrics. */
function ofFamily({ name, help, type, series }: MetricFamily, timesOf: TimesOf): ExportedMetric[] {
  const all = [...series.values()]
  if (type === 'histogram') return [histogram(name, help, all.map(toHistogramSample), timesOf)]
  if (type !== 'summary') return [simple(name, help, type === 'counter', all, timesOf)]
  const counts = all.map(({ labels, count = 0 }) => ({ labels, value: count }))
  return [simple(`${name}_sum`, help, true, all, timesOf), simple(`${name}_count`, help, true, counts, timesOf)]
}

function toHistogramSample({ labels, value, buckets = [] }: ServiceSeries): HistogramSample {
  return { labels, sum: value, buckets: buckets.map(([le, count]) => ({ le, count })) }
}

function simple(
  name: string,
  help: string,
  isCounter: boolean,
  samples: readonly Sample[],
  timesOf: TimesOf,
): ExportedMetric {
  const dataPoints = samples.map(({ labels, value }) => ({ ...timesOf(labels), attributes: labels, value }))
  const common = { descriptor: descriptor(name, help), aggregationTemporality: cumulative, dataPoints }
  return isCounter
    ? { ...common, dataPointType: sumPoint, isMonotonic: true }
    : { ...common, dataPointType: gaugePoint }
}

function histogram(name: string, help: string, samples: readonly HistogramSample[], timesOf: TimesOf): ExportedMetric {
  return {
    descriptor: descriptor(name, help),
    aggregationTemporality: cumulative,
    dataPointType: histogramPoint,
    dataPoints: samples.map(({ labels, sum, buckets }) => ({
      ...timesOf(labels),
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
