/** Metrics as text that Prometheus and everything like it reads: version 0.0.4 of the format, with the names of OpenMetrics. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

export interface Metric {
  /** A counter's ends in `_total`. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One sentence. */
  readonly help: string
  readonly labels: readonly string[]
}

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels: Labels
  readonly value: number
}

export interface HistogramSample {
  readonly labels: Labels
  /** Upper bounds with the number of values up to them; the last is Infinity and counts all. */
  readonly buckets: readonly { readonly le: number; readonly count: number }[]
  readonly sum: number
}

export function formatMetric(metric: Metric, samples: readonly Sample[]): string {
  return [head(metric), ...samples.map(({ labels, value }) => line(metric.name, labels, value))].join('')
}

export function formatHistogram(metric: Metric, samples: readonly HistogramSample[]): string {
  return [head(metric), ...samples.map((sample) => histogramLines(metric.name, sample))].join('')
}

function head({ name, type, help }: Metric): string {
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`
}

function histogramLines(name: string, { labels, buckets, sum }: HistogramSample): string {
  return [
    ...buckets.map(({ le, count }) => line(`${name}_bucket`, { ...labels, le: numberText(le) }, count)),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, buckets.at(-1)?.count ?? 0),
  ].join('')
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}\n`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function numberText(value: number): string {
  return value === Infinity ? '+Inf' : String(value)
}
