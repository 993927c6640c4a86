import type {
  Attributes,
  BatchObservableCallback,
  Counter,
  Gauge,
  Histogram,
  Meter,
  MeterProvider,
  MetricOptions,
  Observable,
  ObservableCallback,
  ObservableCounter,
  ObservableGauge,
  ObservableUpDownCounter,
  UpDownCounter,
} from '@opentelemetry/api'
import type { ServiceMetric } from '../../shared/metrics/service-metrics.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import { Instrument, type Kind, type Warn } from './instruments.ts'

/** Runs code of a service in its scope. */
export type EnterService = <R>(service: string | undefined, run: () => R) => R

export interface MeterParts {
  /** The service whose code runs. */
  readonly ownerOf: () => string | undefined
  readonly enter: EnterService
  readonly warn: Warn
}

/** Milliseconds. A callback of a service may never end. */
const callbackLimit = 500

/**
 * The metrics of OpenTelemetry's API, for services that have set up no provider. Not the one of the
 * SDK, which is 15 MB with what it needs and does more: there are no views, and one reader.
 */
export class ServiceMeterProvider implements MeterProvider {
  readonly #meters = new Map<string, ServiceMeter>()
  readonly #parts: MeterParts

  constructor(parts: MeterParts) {
    this.#parts = parts
  }

  getMeter(given: unknown): Meter {
    const name = typeof given === 'string' ? given : ''
    let meter = this.#meters.get(name)
    if (meter === undefined) this.#meters.set(name, (meter = new ServiceMeter(name, this.#parts)))
    return meter
  }

  async collect(): Promise<ServiceMetric[]> {
    const all = await Promise.all([...this.#meters.values()].map((meter) => meter.collect()))
    return all.flat()
  }
}

interface Callback {
  readonly service: string | undefined
  readonly run: (record: (observable: unknown, value: number, attributes?: Attributes) => void) => unknown
  isRunning: boolean
}

class ServiceMeter implements Meter {
  readonly #name: string
  readonly #ownerOf: () => string | undefined
  readonly #enter: EnterService
  readonly #warn: Warn
  readonly #instruments = new Map<string, Instrument>()
  readonly #observed = new Map<object, Instrument>()
  readonly #callbacks = new Map<unknown, Callback>()
  /** By service and type of the name. */
  readonly #unnamed = new Set<string>()

  constructor(name: string, { ownerOf, enter, warn }: MeterParts) {
    this.#name = name
    this.#ownerOf = ownerOf
    this.#enter = enter
    this.#warn = warn
  }

  createCounter(name: string, options?: MetricOptions): Counter {
    const instrument = this.#create(name, 'counter', options)
    return { add: (value, attributes) => this.#record((service) => instrument?.add(service, value, attributes)) }
  }

  createUpDownCounter(name: string, options?: MetricOptions): UpDownCounter {
    const instrument = this.#create(name, 'gauge', options)
    return { add: (value, attributes) => this.#record((service) => instrument?.add(service, value, attributes)) }
  }

  createGauge(name: string, options?: MetricOptions): Gauge {
    const instrument = this.#create(name, 'gauge', options)
    return { record: (value, attributes) => this.#record((service) => instrument?.set(service, value, attributes)) }
  }

  createHistogram(name: string, options?: MetricOptions): Histogram {
    const instrument = this.#create(name, 'histogram', options)
    return { record: (value, attributes) => this.#record((service) => instrument?.observe(service, value, attributes)) }
  }

  createObservableCounter(name: string, options?: MetricOptions): ObservableCounter {
    return this.#observable(name, 'counter', options)
  }

  createObservableGauge(name: string, options?: MetricOptions): ObservableGauge {
    return this.#observable(name, 'gauge', options)
  }

  createObservableUpDownCounter(name: string, options?: MetricOptions): ObservableUpDownCounter {
    return this.#observable(name, 'gauge', options)
  }

  addBatchObservableCallback(callback: BatchObservableCallback): void {
    const run: Callback['run'] = (record) => callback({ observe: record })
    this.#callbacks.set(callback, { service: this.#ownerOf(), run, isRunning: false })
  }

  removeBatchObservableCallback(callback: BatchObservableCallback): void {
    this.#callbacks.delete(callback)
  }

  async collect(): Promise<ServiceMetric[]> {
    const due = [...this.#callbacks.values()].filter(({ isRunning }) => !isRunning)
    if (due.length > 0) {
      for (const instrument of this.#observed.values()) instrument.clear()
      await settlesWithin(callbackLimit, [Promise.all(due.map((callback) => this.#call(callback)))])
    }
    return [...this.#instruments.values()].flatMap((instrument) => instrument?.collect())
  }

  /** Never rejects. An error of a callback leaves out its values, as in the SDK. */
  async #call(callback: Callback): Promise<void> {
    const { service, run } = callback
    callback.isRunning = true
    try {
      await this.#enter(service, () =>
        run((observable, value, attributes) => {
          const owner = service ?? this.#ownerOf()
          const instrument = this.#observed.get(observable as object)
          if (owner !== undefined) instrument?.set(owner, value, attributes)
        }),
      )
    } catch {
      // Its values are missing.
    } finally {
      callback.isRunning = false
    }
  }

  #observable(name: string, kind: Kind, options?: MetricOptions): Observable {
    const callbacks = this.#callbacks
    const ownerOf = this.#ownerOf
    const observable: Observable = {
      addCallback(callback: ObservableCallback) {
        const run: Callback['run'] = (record) =>
          callback({ observe: (value, attributes) => record(observable, value, attributes) })
        callbacks.set(callback, { service: ownerOf(), run, isRunning: false })
      },
      removeCallback: (callback) => void callbacks.delete(callback),
    }
    const instrument = this.#create(name, kind, options)
    if (instrument !== undefined) this.#observed.set(observable, instrument)
    return observable
  }

  /**
   * The same instrument for the same name, as the specification says. Programs in JavaScript pass
   * anything: undefined, if the name is no text.
   */
  #create(name: unknown, kind: Kind, options: MetricOptions | null = {}): Instrument | undefined {
    if (typeof name !== 'string') return this.#warnOfName(name)
    const key = `${kind} ${name.toLowerCase()}`
    const known = this.#instruments.get(key)
    if (known !== undefined) return known
    const instrument = new Instrument(this.#name, name, kind, options ?? {}, this.#warn)
    this.#instruments.set(key, instrument)
    return instrument
  }

  /** One warning for each service and type: it may create one with each request. */
  #warnOfName(name: unknown): undefined {
    const service = this.#ownerOf()
    const type = name === null ? 'null' : typeof name
    const key = `${service} ${type}`
    if (service === undefined || this.#unnamed.has(key)) return
    this.#unnamed.add(key)
    // The text of an object is code of the service, and may throw.
    const text = type === 'object' || type === 'function' ? type : String(name)
    this.#warn(service, `metric '${text}' of service '${service}' reports nothing: its name is no text`)
  }

  #record(record: (service: string) => void): void {
    const service = this.#ownerOf()
    if (service !== undefined) record(service)
  }
}
