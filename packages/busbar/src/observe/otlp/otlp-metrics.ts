import type { Attributes, HrTime } from '@opentelemetry/api'
import type { MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics'
import type { ServiceSeries } from '../../shared/metrics/service-metrics.ts'
import type { HistogramSample, Reading, Sample } from '../metrics/prometheus.ts'
import type { MetricFamily } from '../metrics/service-families.ts'
import { instrumentationScope, resourceOf, toHrTime } from './otlp-resource.ts'

/** Numbers of OpenTelemetry's enumerations, whose packages only the exporters need. */
const histogramPoint = 0 as never
const gaugePoint = 2 as never
const sumPoint = 3 as never
const cumulative = 1 as never
const doubleValue = 1 as never

interface Times {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

export interface OtlpMetricsParts {
  readonly attributes: Attributes
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly now: number
}

/** The metrics have the same names and labels as in `GET /metrics`. */
export function toResourceMetrics(
  readings: readonly Reading[],
  families: readonly MetricFamily[],
  { attributes, startedAt, now }: OtlpMetricsParts,
): ResourceMetrics {
  const times = { startTime: toHrTime(startedAt), endTime: toHrTime(now) }
  const metrics = [
    ...readings.map((reading) => ofReading(reading, times)),
    ...families.flatMap((family) => ofFamily(family, times)),
  ].filter(({ dataPoints }) => dataPoints.length > 0)
  return { resource: resourceOf(attributes), scopeMetrics: [{ scope: instrumentationScope, metrics }] }
}

export function pointsOf({ scopeMetrics }: ResourceMetrics): number {
  return scopeMetrics.flatMap(({ metrics }) => metrics).reduce((sum, { dataPoints }) => sum + dataPoints.length, 0)
}

function ofReading(reading: Reading, times: Times): MetricData {
  const { name, help, type } = reading.metric
  return 'histograms' in reading
    ? histogram(name, help, reading.histograms, times)
    : simple(name, help, type === 'counter', reading.samples, times)
}

/** A summary has no form of its own: its sum and its count are two metrics. */
function ofFamily({ name, help, type, series }: MetricFamily, times: Times): MetricData[] {
  const all = [...series.values()]
  if (type === 'histogram') return [histogram(name, help, all.map(toHistogramSample), times)]
  if (type !== 'summary') return [simple(name, help, type === 'counter', all, times)]
  const counts = all.map(({ labels, count = 0 }) => ({ labels, value: count }))
  return [simple(`${name}_sum`, help, true, all, times), simple(`${name}_count`, help, true, counts, times)]
}

function toHistogramSample({ labels, value, buckets = [] }: ServiceSeries): HistogramSample {
  return { labels, sum: value, buckets: buckets.map(([le, count]) => ({ le, count })) }
}

function simple(name: string, help: string, isCounter: boolean, samples: readonly Sample[], times: Times): MetricData {
  const dataPoints = samples.map(({ labels, value }) => ({ ...times, attributes: labels, value }))
  const common = { descriptor: descriptor(name, help), aggregationTemporality: cumulative, dataPoints }
  return isCounter
    ? { ...common, dataPointType: sumPoint, isMonotonic: true }
    : { ...common, dataPointType: gaugePoint }
}

function histogram(name: string, help: string, samples: readonly HistogramSample[], times: Times): MetricData {
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

function descriptor(name: string, description: string): MetricData['descriptor'] {
  return { name, description, unit: '', valueType: doubleValue }
}
