/** The values of the instruments of OpenTelemetry's metrics API. */
import type { Attributes, MetricOptions } from '@opentelemetry/api'
import { inspect } from 'node:util'
import {
  isReserved,
  renamedLabel,
  sampleLabel,
  type ServiceMetric,
  type ServiceSeries,
} from '../../shared/metrics/service-metrics.ts'
import { labelName, metricName } from './metric-names.ts'

export type Kind = 'counter' | 'gauge' | 'histogram'

export type Warn = (service: string | undefined, line: string) => void

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

/** What one service has recorded. */
interface Cells {
  /** Different attributes may be the same labels, and then have the same cell. */
  readonly byAttributes: Map<string, Cell>
  readonly byLabels: Map<string, Cell>
}

/**
 * What one instrument has recorded, by service and attributes. Programs in JavaScript pass
 * anything: what is no number is left out, as in the SDK, and never reaches a report.
 */
export class Instrument {
  readonly #given: string
  readonly #scope: string
  readonly #name: string
  readonly #help: string
  readonly #kind: Kind
  readonly #bounds: readonly number[]
  readonly #hasOddBounds: boolean
  readonly #services = new Map<string, Cells>()
  readonly #warn: Warn
  readonly #warned = new Set<string>()

  /** `scope`: the name of the meter. */
  constructor(scope: string, name: string, kind: Kind, options: MetricOptions, warn: Warn) {
    const { description, unit, advice } = options
    this.#given = name
    this.#scope = scope
    this.#kind = kind
    this.#warn = warn
    this.#name = metricName(name, typeof unit === 'string' ? unit : '', kind)
    const help: unknown = description ?? ''
    this.#help = help === '' ? name : textOf(help)
    const given: unknown = advice?.explicitBucketBoundaries ?? defaultBounds
    const bounds: readonly unknown[] = Array.isArray(given) ? given : defaultBounds
    this.#bounds = boundsOf(bounds)
    this.#hasOddBounds = given !== bounds || bounds.length !== this.#bounds.length
  }

  add(service: string, value: number, attributes?: Attributes): void {
    if (!this.#takes(service, value)) return
    this.#cell(service, attributes).value += value
  }

  set(service: string, value: number, attributes?: Attributes): void {
    if (typeof value !== 'number') return this.#leaveOut(service, value)
    this.#cell(service, attributes).value = value
  }

  observe(service: string, value: number, attributes?: Attributes): void {
    if (!this.#takes(service, value)) return
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
    return [...this.#services].map(([service, { byLabels }]) => ({
      service,
      name: this.#name,
      type: this.#kind,
      help: this.#help,
      series: [...byLabels.values()].map((cell) => this.#seriesOf(cell)),
    }))
  }

  #takes(service: string, value: number): boolean {
    if (typeof value === 'number' && (value >= 0 || this.#kind === 'gauge')) return true
    this.#leaveOut(service, value)
    return false
  }

  /** One warning for each service: it may do so with each request. */
  #leaveOut(service: string, value: unknown): void {
    this.#warnOnce(service, `a value that a ${this.#kind} cannot have is left out: ${inspect(value).slice(0, 100)}`)
  }

  #warnOnce(service: string, what: string): void {
    if (this.#warned.has(service)) return
    this.#warned.add(service)
    this.#warn(service, `metric '${this.#given}' of service '${service}': ${what}`)
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
    if (cells === undefined) this.#services.set(service, (cells = { byAttributes: new Map(), byLabels: new Map() }))
    const { byAttributes, byLabels } = cells
    const key = keyOf(attributes)
    const known = byAttributes.get(key)
    if (known !== undefined) return known
    if (byAttributes.size >= maxAttributeSets && attributes !== overflow) return this.#cell(service, overflow)
    if (this.#hasOddBounds)
      this.#warnOnce(service, 'bounds of buckets that are no finite numbers, or come twice, are left out')
    if (Object.hasOwn(attributes, '')) this.#warnOnce(service, 'an attribute that has no name is left out')
    const labels = this.#labelsOf(attributes)
    const labelsKey = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
    const cell = byLabels.get(labelsKey) ?? this.#newCell(labels)
    byAttributes.set(key, cell)
    byLabels.set(labelsKey, cell)
    return cell
  }

  #newCell(labels: Cell['labels']): Cell {
    const buckets = this.#kind === 'histogram' ? Array.from({ length: this.#bounds.length + 1 }, () => 0) : []
    return { labels, value: 0, count: 0, buckets }
  }

  /** Attributes whose names are the same label are joined, as the specification says. */
  #labelsOf(attributes: Attributes): Record<string, string> {
    const isTaken = (label: string): boolean =>
      isReserved(label) || label === scopeLabel || label === sampleLabel[this.#kind]
    const labels: Record<string, string> = {}
    for (const name of Object.keys(attributes).sort()) {
      const value = attributes[name]
      if (value === undefined || value === null || name === '') continue
      const text = textOf(value)
      const label = renamedLabel(labelName(name), isTaken)
      labels[label] = Object.hasOwn(labels, label) ? `${labels[label]};${text}` : text
    }
    return { ...labels, [scopeLabel]: this.#scope }
  }
}

/** The label of the specification that has the name of the meter. */
const scopeLabel = 'otel_scope_name'

/** The attribute of the specification. */
const overflow = { otel_metric_overflow: true }

/** The last bucket has none. */
function boundsOf(given: readonly unknown[]): readonly number[] {
  const numbers = given.filter((bound): bound is number => Number.isFinite(bound))
  return [...new Set(numbers)].sort((a, b) => a - b)
}

/** The same for the same attributes in another order. */
function keyOf(attributes: Attributes): string {
  const names = Object.keys(attributes)
  if (names.length === 0) return ''
  return JSON.stringify(
    names.sort().map((name) => [name, attributes[name]]),
    plainValue,
  )
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value, plainValue) ?? typeof value
  } catch {
    // It refers to itself, for example.
    return typeof value
  }
}

/** A service that passes a value that has no JSON must not get an error for it. */
function plainValue(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
