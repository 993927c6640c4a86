/** Metrics that services register in `prom-client` or record by the API of OpenTelemetry. */

export const serviceMetricTypes = ['counter', 'gauge', 'histogram', 'summary', 'unknown'] as const

/** One metric of one service in one worker. */
export interface ServiceMetric {
  readonly service: string
  /** A name of Prometheus. */
  readonly name: string
  readonly type: (typeof serviceMetricTypes)[number]
  readonly help: string
  readonly series: readonly ServiceSeries[]
}

/** One set of labels, with the values that belong to it. */
export interface ServiceSeries {
  readonly labels: Readonly<Record<string, string>>
  /** Of a counter or a gauge. Of a histogram or a summary: the sum of what was observed. */
  readonly value: number
  /** Of a histogram or a summary: how much was observed. */
  readonly count?: number
  /** Of a histogram: upper bounds, the last one Infinity, with the number of values up to them. */
  readonly buckets?: readonly Point[]
  /** Of a summary: quantiles with their values. */
  readonly quantiles?: readonly Point[]
}

export type Point = readonly [at: number, value: number]

/** The label that has a meaning of its own in the samples of this type. */
export const sampleLabel: Readonly<Partial<Record<ServiceMetric['type'], string>>> = {
  histogram: 'le',
  summary: 'quantile',
}

/** Prometheus has these for itself, such as `__name__`. */
export function isReserved(label: string): boolean {
  return label.startsWith('__')
}

/**
 * As Prometheus renames a label of a target that it sets itself. So is one that seems to be renamed
 * already: no two labels become the same, whatever other labels there are.
 */
export function renamedLabel(label: string, isTaken: (label: string) => boolean): string {
  return isTaken(label.replace(/^(?:exported_)+/, '')) ? `exported_${label}` : label
}

/** What a worker reports about the metrics of its services. */
export interface ServiceMetricsReport {
  readonly metrics: readonly ServiceMetric[]
  /** Series beyond the limits of the worker, by service. */
  readonly dropped: Readonly<Record<string, number>>
}

/** Limits of one worker's report: lines of text, and characters of JSON. */
export const maxServiceSamples = 10_000
export const maxServiceBytes = 1024 * 1024

/** How many lines of text a series makes. */
export function samplesOfSeries({ buckets = [], quantiles = [], count }: ServiceSeries): number {
  return buckets.length + quantiles.length + (count === undefined ? 1 : 2)
}

/** JSON knows neither infinity nor "not a number". */
export function encodeReport(report: ServiceMetricsReport): string {
  return JSON.stringify(report, encodeNumber)
}

/** For values that are then checked: a program may have forged them. */
export function decodeReport(json: string): unknown {
  return JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? (decoded[value] ?? value.slice(mark.length)) : value,
  )
}

export function encodeNumber(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return `${mark}${value}`
  return typeof value === 'string' && value.startsWith(mark) ? `${mark}${value}` : value
}

/** Before a number as text, and before a text that begins with it. */
const mark = '\u0000'

const decoded: Readonly<Record<string, number>> = {
  '\u0000NaN': Number.NaN,
  '\u0000Infinity': Infinity,
  '\u0000-Infinity': -Infinity,
}
