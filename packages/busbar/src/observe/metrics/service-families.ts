/** The metrics of services from all workers, as one text. */
import {
  type Point,
  renamedLabel,
  type ServiceMetric,
  type ServiceSeries,
} from '../../shared/metrics/service-metrics.ts'
import { head, line, type Metric, type MetricsSyntax, numberText } from './prometheus.ts'

export interface ReportedMetric extends ServiceMetric {
  /** The number of the slot. */
  readonly worker: string
}

export interface MetricFamily extends Pick<ServiceMetric, 'name' | 'type' | 'help'> {
  /** With the labels `service` and `worker`. By their labels. */
  readonly series: ReadonlyMap<string, ServiceSeries>
}

export interface RefusedMetric {
  readonly service: string
  readonly name: string
}

export interface SeriesCount {
  readonly service: string
  readonly worker: string
  readonly count: number
}

export interface ServiceMetricsView {
  readonly families: readonly MetricFamily[]
  /** Of Busbar's names, or of a name that another service has for another type. */
  readonly refused: readonly RefusedMetric[]
  /** Series that are shown, and series beyond the limits of a worker. */
  readonly shown: readonly SeriesCount[]
  readonly dropped: readonly SeriesCount[]
}

export const noServiceMetrics: ServiceMetricsView = { families: [], refused: [], shown: [], dropped: [] }

/** The prefix of metrics that only Busbar has. */
const ownPrefix = 'busbar_'

/**
 * Joins the metrics of the same name. A name has one type, and no name is a part of another metric:
 * the first one has it. `own`: the metrics of Busbar.
 */
export function mergeMetrics(
  reported: readonly ReportedMetric[],
  own: readonly Metric[],
): Omit<ServiceMetricsView, 'dropped'> {
  const taken = new Set(own.flatMap(namesOf))
  const families = new Map<string, MetricFamily & { readonly series: Map<string, ServiceSeries> }>()
  const refused: RefusedMetric[] = []
  const shown = new Map<string, { service: string; worker: string; count: number }>()
  for (const metric of reported) {
    const { service, worker, name, type, help } = metric
    let family = families.get(name)
    const isTaken = name.startsWith(ownPrefix) || namesOf(metric).some((one) => taken.has(one))
    if (family === undefined ? isTaken : family.type !== type) {
      refused.push({ service, name })
      continue
    }
    if (family === undefined) {
      families.set(name, (family = { name, type, help, series: new Map() }))
      for (const one of namesOf(metric)) taken.add(one)
    }
    const before = family.series.size
    for (const one of metric.series) addSeries(family.series, labelled(one, service, worker), type)
    const count = shown.get(`${worker} ${service}`) ?? { service, worker, count: 0 }
    shown.set(`${worker} ${service}`, count)
    count.count += family.series.size - before
  }
  return { families: [...families.values()], refused, shown: [...shown.values()] }
}

/**
 * Of a counter, a histogram or a summary. A histogram with other bounds than before begins anew.
 */
export function sumOf(one: ServiceSeries, other: ServiceSeries): ServiceSeries {
  const { buckets, count, quantiles } = other
  if (one.buckets?.map(([le]) => le).join() !== buckets?.map(([le]) => le).join()) return other
  return {
    labels: other.labels,
    value: one.value + other.value,
    ...(count !== undefined && { count: (one.count ?? 0) + count }),
    ...(buckets && { buckets: buckets.map(([le, below], at): Point => [le, below + (one.buckets?.[at]?.[1] ?? 0)]) }),
    ...(quantiles && { quantiles }),
  }
}

export function formatFamilies(families: readonly MetricFamily[], syntax: MetricsSyntax): string {
  return families.map((family) => formatFamily(family, syntax)).join('')
}

/** In OpenMetrics, the name of a counter's samples ends in `_total`, and its own does not. */
function formatFamily({ name, type, help, series }: MetricFamily, syntax: MetricsSyntax): string {
  const isOpen = syntax === 'openmetrics'
  const isTotal = name.endsWith('_total')
  const shownType =
    type === 'unknown' && !isOpen ? 'untyped' : isOpen && type === 'counter' && !isTotal ? 'unknown' : type
  const family = isOpen && shownType === 'counter' ? name.slice(0, -'_total'.length) : name
  // A help of no text is no help.
  const top = head({ name: family, type: shownType as Metric['type'], help: help.trim() || name, labels: [] })
  return top + [...series.values()].map((one) => seriesLines(name, one)).join('')
}

function seriesLines(name: string, { labels, value, count, buckets, quantiles }: ServiceSeries): string {
  if (count === undefined) return line(name, labels, value)
  return [
    ...(buckets ?? []).map(([le, below]) => line(`${name}_bucket`, { ...labels, le: numberText(le) }, below)),
    ...(quantiles ?? []).map(([quantile, at]) => line(name, { ...labels, quantile: numberText(quantile) }, at)),
    line(`${name}_sum`, labels, value),
    line(`${name}_count`, labels, count),
  ].join('')
}

function addSeries(all: Map<string, ServiceSeries>, one: ServiceSeries, type: ServiceMetric['type']): void {
  const key = Object.entries(one.labels)
    .map((pair) => JSON.stringify(pair))
    .sort()
    .join()
  const before = all.get(key)
  const isSum = type !== 'gauge' && type !== 'unknown'
  all.set(key, before !== undefined && isSum ? sumOf(before, one) : one)
}

function labelled({ labels, ...rest }: ServiceSeries, service: string, worker: string): ServiceSeries {
  const own = Object.entries(labels).map(([name, value]) => [renamedLabel(name, isAdded), value] as const)
  return { ...rest, labels: { service, worker, ...Object.fromEntries(own) } }
}

function isAdded(label: string): boolean {
  return label === 'service' || label === 'worker'
}

/** The metric's name in both formats, and those of its samples. */
function namesOf({ name, type }: Pick<Metric, 'name' | 'type'>): readonly string[] {
  if (type === 'histogram') return [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]
  if (type === 'summary') return [name, `${name}_sum`, `${name}_count`]
  return type === 'counter' ? [name, name.replace(/_total$/, '')] : [name]
}
