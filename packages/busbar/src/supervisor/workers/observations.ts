import type { App } from '../../config/app.ts'
import { ServiceMetrics } from '../../observe/metrics/service-metrics.ts'
import { TraceStore } from '../../observe/traces/trace-store.ts'
import type { FromWorker } from '../../shared/control-messages.ts'
import { workerLabel, type SlotSpec } from '../plan.ts'

/** What workers have recorded of their services and sent. */
export class Observations {
  /** The recent traces. */
  readonly traces = new TraceStore()
  /** The metrics that services record by libraries of their own. */
  readonly serviceMetrics: ServiceMetrics
  readonly #app: () => App

  constructor(app: () => App, warn: (line: string) => void) {
    this.#app = app
    this.serviceMetrics = new ServiceMetrics(warn)
  }

  /** `worker`: its number, which no other one has. */
  receive(worker: number, spec: SlotSpec, message: Extract<FromWorker, { type: 'spans' | 'metrics' }>): void {
    if (message.type === 'metrics') this.serviceMetrics.report(worker, spec, message.json)
    else this.traces.add(message.spans, workerLabel(spec), this.#app().traces?.keep ?? 0)
  }

  ended(worker: number): void {
    this.serviceMetrics.ended(worker)
  }
}
