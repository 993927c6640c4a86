/** The values of the instruments of OpenTelemetry's metrics API. */
import type { Attributes, MetricOptions } from '@opentelemetry/api'
import type { ServiceMetric, ServiceSeries } from '../../shared/metrics/service-metrics.ts'
import { labelName, metricName } from './metric-names.ts'

export type Kind = 'counter' | 'gauge' | 'histogram'

/** The default of the specification: beyond it, values are recorded together. */
const maxAttributeSets = 2000

/** The specification's default bounds of a histogram. */
const defaultBounds = [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000]

interface Cell {
  readonly labels: Readonly<Record<string, string>>
  value: number
  count: number
  readonly buckets: number[]
}

/** What one instrument has recorded, by service and attributes. */
export class Instrument {
  readonly #scope: string
  readonly #name: string
  readonly #help: string
  readonly #kind: Kind
  readonly #bounds: readonly number[]
  readonly #services = new Map<string, Map<string, Cell>>()

  /** `scope`: the name of the meter. */
  constructor(scope: string, name: string, kind: Kind, { description, unit = '', advice }: MetricOptions = {}) {
    this.#scope = scope
    this.#kind = kind
    this.#name = metricName(name, unit, kind)
    this.#help = description === undefined || description === '' ? name : description
    this.#bounds = advice?.explicitBucketBoundaries ?? defaultBounds
  }

  add(service: string, value: number, attributes?: Attributes): void {
    if (this.#kind === 'counter' && !(value >= 0)) return
    this.#cell(service, attributes).value += value
  }

  set(service: string, value: number, attributes?: Attributes): void {
    this.#cell(service, attributes).value = value
  }

  observe(service: string, value: number, attributes?: Attributes): void {
    if (!(value >= 0)) return
    const cell = this.#cell(service, attributes)
    const at = this.#bounds.findIndex((bound) => value <= bound)
    cell.buckets[at === -1 ? this.#bounds.length : at]!++
    cell.value += value
    cell.count++
  }

  /** Before a callback says which values there are now. */
  clear(): void {
    this.#services.clear()
  }

  collect(): ServiceMetric[] {
    return [...this.#services].map(([service, cells]) => ({
      service,
      name: this.#name,
      type: this.#kind,
      help: this.#help,
      series: [...cells.values()].map((cell) => this.#seriesOf(cell)),
    }))
  }

  #seriesOf({ labels, value, count, buckets }: Cell): ServiceSeries {
    if (this.#kind !== 'histogram') return { labels, value }
    let total = 0
    return {
      labels,
      value,
      count,
      buckets: buckets.map((inside, at) => [this.#bounds[at] ?? Infinity, (total += inside)]),
    }
  }

  #cell(service: string, attributes: Attributes = {}): Cell {
    let cells = this.#services.get(service)
    if (cells === undefined) this.#services.set(service, (cells = new Map()))
    const key = keyOf(attributes)
    const known = cells.get(key)
    if (known !== undefined) return known
    if (cells.size >= maxAttributeSets && attributes !== overflow) return this.#cell(service, overflow)
    const labels = { ...labelsOf(attributes), otel_scope_name: this.#scope }
    const buckets = this.#kind === 'histogram' ? Array.from({ length: this.#bounds.length + 1 }, () => 0) : []
    const cell = { labels, value: 0, count: 0, buckets }
    cells.set(key, cell)
    return cell
  }
}

/** The attribute of the specification. */
const overflow = { otel_metric_overflow: true }

/** The same for the same attributes in another order. */
function keyOf(attributes: Attributes): string {
  const names = Object.keys(attributes)
  if (names.length === 0) return ''
  return JSON.stringify(names.sort().map((name) => [name, attributes[name]]))
}

/** Attributes whose names are the same label are joined, as the specification says. */
function labelsOf(attributes: Attributes): Record<string, string> {
  const labels: Record<string, string> = {}
  for (const name of Object.keys(attributes).sort()) {
    const value = attributes[name]
    if (value === undefined || value === null) continue
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const label = labelName(name)
    labels[label] = Object.hasOwn(labels, label) ? `${labels[label]};${text}` : text
  }
  return labels
}
