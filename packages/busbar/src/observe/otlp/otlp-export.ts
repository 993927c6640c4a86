import { hostname } from 'node:os'
import { pathToFileURL } from 'node:url'
import type { Attributes } from '@opentelemetry/api'
import type { OtlpSettings } from '../../shared/app/telemetry-settings.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import { environmentAttributes } from './otlp-resource.ts'
import { OtlpSpans, type SentSpan } from './otlp-spans.ts'
import { exporterOptions, type ExporterOptions } from './exporter-options.ts'
import type { ExportedMetrics, ExportedSpan } from './otlp-types.ts'
import { type Exporter, type OtlpCounts, SignalExport } from './signal-export.ts'

export interface OtlpExportParts {
  readonly settings: OtlpSettings
  readonly app: string
  readonly env: NodeJS.ProcessEnv
  /** The current metrics. */
  readonly metrics: (attributes: Attributes) => { data: ExportedMetrics; points: number }
  readonly log: (level: 'info' | 'warn', line: string) => void
}

interface Constructors {
  readonly OTLPMetricExporter: new (options: ExporterOptions) => Exporter<ExportedMetrics>
  readonly OTLPTraceExporter: new (options: ExporterOptions) => Exporter<ExportedSpan[]>
}

/** The defaults of the specification. */
const defaults = { metricInterval: 60_000, spanDelay: 5000, spanQueue: 2048, spanBatch: 512 }
/** Milliseconds that the end waits for the last exports. */
const closeLimit = 2000

/** Exports the app's metrics and spans by OTLP, from the supervisor. */
export class OtlpExport {
  readonly #parts: OtlpExportParts
  readonly #common: Attributes
  readonly #spans: OtlpSpans
  readonly #limits: { readonly delay: number; readonly queue: number; readonly batch: number }
  #queue: SentSpan[] = []
  #metricExport: SignalExport<ExportedMetrics> | undefined
  #spanExport: SignalExport<ExportedSpan[]> | undefined
  #metricTimer: NodeJS.Timeout | undefined
  #spanTimer: NodeJS.Timeout | undefined

  private constructor(parts: OtlpExportParts) {
    const { env, app } = parts
    this.#parts = parts
    this.#common = { 'host.name': hostname(), ...environmentAttributes(env) }
    this.#spans = new OtlpSpans(app, this.#common)
    this.#limits = {
      delay: numberOf(env['OTEL_BSP_SCHEDULE_DELAY']) ?? defaults.spanDelay,
      queue: numberOf(env['OTEL_BSP_MAX_QUEUE_SIZE']) ?? defaults.spanQueue,
      batch: numberOf(env['OTEL_BSP_MAX_EXPORT_BATCH_SIZE']) ?? defaults.spanBatch,
    }
  }

  /** Loads the exporters, which takes some 100 ms. */
  static async open(parts: OtlpExportParts): Promise<OtlpExport> {
    const one = new OtlpExport(parts)
    const { settings, log } = parts
    const load = async (file: string): Promise<Constructors> => (await import(pathToFileURL(file).href)) as Constructors
    if (settings.metrics !== undefined) {
      const { OTLPMetricExporter } = await load(settings.metrics)
      const options = exporterOptions(settings, 'metrics', settings.metrics)
      one.#metricExport = new SignalExport('metrics', new OTLPMetricExporter(options), log)
      one.#metricTimer = setInterval(() => void one.#exportMetrics(), one.#interval).unref()
    }
    if (settings.traces !== undefined) {
      const { OTLPTraceExporter } = await load(settings.traces)
      const options = exporterOptions(settings, 'traces', settings.traces)
      one.#spanExport = new SignalExport('traces', new OTLPTraceExporter(options), log)
    }
    return one
  }

  get counts(): readonly OtlpCounts[] {
    return [this.#metricExport, this.#spanExport].flatMap((one) => one?.counts ?? [])
  }

  add(spans: readonly SentSpan[]): void {
    if (this.#spanExport === undefined) return
    const room = Math.max(0, this.#limits.queue - this.#queue.length)
    this.#queue.push(...spans.slice(0, room))
    if (spans.length > room) this.#spanExport.overflow(spans.length - room)
    if (this.#queue.length >= this.#limits.batch) this.#exportSpans()
    else this.#spanTimer ??= setTimeout(() => this.#exportSpans(), this.#limits.delay).unref()
  }

  /** Exports what there is, within a time limit. */
  async close(): Promise<void> {
    clearInterval(this.#metricTimer)
    clearTimeout(this.#spanTimer)
    const end = performance.now() + closeLimit
    await settlesWithin(closeLimit, [Promise.all([this.#lastMetrics(), this.#lastSpans()])])
    this.#metricExport?.abandon(0)
    this.#spanExport?.abandon(this.#queue.splice(0).length)
    const left = Math.max(0, end - performance.now())
    await Promise.all([this.#metricExport?.close(left), this.#spanExport?.close(left)])
  }

  get #interval(): number {
    const { settings, env } = this.#parts
    return settings.interval ?? numberOf(env['OTEL_METRIC_EXPORT_INTERVAL']) ?? defaults.metricInterval
  }

  /**
   * At most one export is under way: if it takes longer than the interval, the next one is skipped.
   */
  async #exportMetrics(): Promise<void> {
    const out = this.#metricExport
    if (out === undefined || out.running !== undefined) return
    const { app, metrics } = this.#parts
    const { data, points } = metrics({ 'service.name': app, 'process.pid': process.pid, ...this.#common })
    await out.export(data, points)
  }

  async #lastMetrics(): Promise<void> {
    await this.#metricExport?.running
    await this.#exportMetrics()
  }

  #exportSpans(): void {
    clearTimeout(this.#spanTimer)
    this.#spanTimer = undefined
    const out = this.#spanExport
    if (out === undefined || out.running !== undefined || this.#queue.length === 0) return
    const batch = this.#queue.splice(0, this.#limits.batch).map((span) => this.#spans.convert(span))
    void out.export(batch, batch.length).then(() => (this.#queue.length > 0 ? this.#exportSpans() : out.drained()))
  }

  async #lastSpans(): Promise<void> {
    for (;;) {
      this.#exportSpans()
      const running = this.#spanExport?.running
      if (running === undefined) return
      await running
    }
  }
}

/** Undefined for anything but a positive number. */
function numberOf(text: string | undefined): number | undefined {
  const number = Number(text)
  return text !== undefined && number > 0 && Number.isFinite(number) ? number : undefined
}
