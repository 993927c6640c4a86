import type { Exemplar } from '../traces/exemplars.ts'

/** The text format of Prometheus, version 0.0.4, and that of OpenMetrics 1.0. */
export type MetricsSyntax = 'prometheus' | 'openmetrics'

export const metricsContentTypes: Readonly<Record<MetricsSyntax, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

export const endOfOpenMetrics = '# EOF\n'

export interface Metric {
  /** The name of a counter ends in `_total`. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary' | 'unknown'
  /** If it is not the name. */
  readonly family?: string
  /** One sentence. */
  readonly help: string
  readonly labels: readonly string[]
  /**
   * What OpenTelemetry's semantic conventions call it. Null: an alias, whose values have another
   * name there. Undefined: it is Busbar's own, and has the same name everywhere.
   */
  readonly convention?: Convention | null
  /** Its counts begin with the worker that is in the slot now, not with the app. */
  readonly startsWithWorker?: true
}

export interface Convention {
  readonly name: string
  readonly unit: string
  /** Of a gauge: its values are sums over the labels that make sense, such as bytes. */
  readonly isSum?: true
}

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels: Labels
  readonly value: number
}

export interface HistogramSample {
  readonly labels: Labels
  /**
   * Upper bounds with the number of values up to them; the last one is Infinity and counts all
   * values.
   */
  readonly buckets: readonly { readonly le: number; readonly count: number; readonly exemplar?: Exemplar }[]
  readonly sum: number
}

/** One metric with its values. */
export type Reading =
  | { readonly metric: Metric; readonly samples: readonly Sample[] }
  | { readonly metric: Metric; readonly histograms: readonly HistogramSample[] }

/** Input in milliseconds. The bound null is infinity. `exemplarOf`: by bounds in seconds. */
export function toHistogram(
  { sum, buckets }: { sum: number; buckets: readonly { readonly le: number | null; readonly count: number }[] },
  labels: Labels,
  exemplarOf?: (above: number, upTo: number) => Exemplar | undefined,
): HistogramSample {
  const bounds = buckets.map(({ le }) => (le === null ? Infinity : le / 1000))
  return {
    labels,
    sum: sum / 1000,
    buckets: buckets.map(({ count }, at) => {
      const [above, le] = [bounds[at - 1] ?? 0, bounds[at]!]
      const isEmpty = count === (buckets[at - 1]?.count ?? 0)
      const exemplar = isEmpty ? undefined : exemplarOf?.(above, le)
      return exemplar === undefined ? { le, count } : { le, count, exemplar }
    }),
  }
}

export function formatMetric(metric: Metric, samples: readonly Sample[]): string {
  return [head(metric), ...samples.map(({ labels, value }) => line(metric.name, labels, value))].join('')
}

export function formatHistogram(metric: Metric, samples: readonly HistogramSample[]): string {
  return [head(metric), ...samples.map((sample) => histogramLines(metric.name, sample))].join('')
}

export function head({ name, family = name, type, help }: Metric): string {
  return `# HELP ${family} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${family} ${type}\n`
}

function histogramLines(name: string, { labels, buckets, sum }: HistogramSample): string {
  return [
    ...buckets.map(({ le, count, exemplar }) =>
      line(`${name}_bucket`, { ...labels, le: numberText(le) }, count, exemplar),
    ),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, buckets.at(-1)?.count ?? 0),
  ].join('')
}

/** Only OpenMetrics has exemplars. */
export function line(name: string, labels: Labels, value: number, exemplar?: Exemplar): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  const more = exemplar === undefined ? '' : exemplarText(exemplar)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}${more}\n`
}

function exemplarText({ trace, span, value, time }: Exemplar): string {
  return ` # {trace_id="${trace}",span_id="${span}"} ${numberText(value)} ${time.toFixed(3)}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

export function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}
