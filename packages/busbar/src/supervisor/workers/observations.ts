import type { App } from '../../config/app.ts'
import type { AppStatus } from '../../observe/app-status.ts'
import { readMetrics } from '../../observe/metrics/metrics.ts'
import type { Observed } from '../../observe/metrics/observed-metrics.ts'
import { ServiceMetrics } from '../../observe/metrics/service-metrics.ts'
import type { OtlpExport } from '../../observe/otlp/otlp-export.ts'
import { Exemplars } from '../../observe/traces/exemplars.ts'
import { TraceStore } from '../../observe/traces/trace-store.ts'
import type { FromWorker } from '../../shared/control-messages.ts'
import { workerLabel } from '../plan.ts'
import type { WorkerHandle } from './worker-handle.ts'

type Log = (level: 'info' | 'warn', line: string) => void

/** What workers have recorded of their services and sent. */
export class Observations {
  /** The recent traces. */
  readonly traces = new TraceStore()
  /** The metrics that services record by libraries of their own. */
  readonly serviceMetrics: ServiceMetrics
  readonly #app: () => App
  readonly #log: Log
  #otlp: OtlpExport | undefined

  constructor(app: () => App, log: Log) {
    this.#app = app
    this.#log = log
    this.serviceMetrics = new ServiceMetrics((line) => log('warn', line))
  }

  /** What metrics show of them. */
  get observed(): Observed {
    const exemplars = (): Exemplars | undefined =>
      this.#app().traces && new Exemplars(this.traces.list({ limit: 1000, failed: false }))
    return { services: this.serviceMetrics.read(), otlp: this.#otlp?.counts ?? [], exemplars }
  }

  receive(
    { worker, spec, pid }: Pick<WorkerHandle, 'worker' | 'spec' | 'pid'>,
    message: Extract<FromWorker, { type: 'spans' | 'metrics' }>,
  ): void {
    if (message.type === 'metrics') return this.serviceMetrics.report(worker, spec, message.json)
    const label = workerLabel(spec)
    const { spans, own } = message
    this.traces.add(spans, own, label, this.#app().traces?.keep ?? 0)
    this.#otlp?.add([...spans, ...own].map((span) => ({ ...span, worker: label, pid })))
  }

  ended(worker: number): void {
    this.serviceMetrics.ended(worker)
  }

  /**
   * Exports them, if the config says so. Returns a function that ends the export; call it after the
   * last worker has ended.
   */
  async export(status: () => AppStatus): Promise<() => Promise<void>> {
    const { otlp: settings, name } = this.#app()
    if (settings === undefined) return async () => {}
    const [{ OtlpExport }, { pointsOf, toResourceMetrics }] = await Promise.all([
      import('../../observe/otlp/otlp-export.ts'),
      import('../../observe/otlp/otlp-metrics.ts'),
    ])
    const otlp = await OtlpExport.open({
      settings,
      app: name,
      env: process.env,
      log: this.#log,
      metrics: (attributes) => {
        const [current, observed] = [status(), this.observed]
        const { startedAt } = current.app
        const times = { startedAt, now: Date.now() }
        const { families } = observed.services
        const { workers } = current
        const data = toResourceMetrics(readMetrics(current, observed), families, { attributes, workers, ...times })
        return { data, points: pointsOf(data) }
      },
    })
    this.#otlp = otlp
    return () => otlp.close()
  }
}
