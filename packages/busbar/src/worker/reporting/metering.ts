import { noLoads, SharedLoads, type Loads } from '../../mesh/routing/balance/loads.ts'
import { countedPaths, Meter } from '../../mesh/meter.ts'
import { configuredTemplates } from '../../shared/path-templates/known-templates.ts'
import { Tracer } from '../../mesh/tracing/tracer.ts'
import type { App, Service } from '../../config/app.ts'
import type { WorkerInit } from '../../shared/control-messages.ts'
import type { CallTimes } from '../../shared/metrics/call-times.ts'
import { InstanceCells } from '../../shared/metrics/instance-cells.ts'
import { InstanceTable, type ServiceShape } from '../../shared/metrics/instance-table.ts'
import { RefusalCounts } from '../../shared/metrics/refusals.ts'
import { QueueCells } from '../../shared/metrics/queue-cells.ts'
import type { ReportFile } from '../../shared/metrics/report-file.ts'
import { Sampler } from '../../shared/metrics/sampler.ts'
import { ReportedCells } from './reported-cells.ts'
import type { Outbox } from './outbox.ts'
import { SpanSender } from './span-sender.ts'

type MeteringInit = Pick<WorkerInit, 'kind' | 'slot' | 'hosts' | 'cells' | 'row' | 'shape' | 'instances'>

/**
 * The counters that this worker writes for its services and calls, and the loads of others that it
 * reads.
 */
export class Metering {
  readonly table: InstanceTable
  /** This worker's row in the table. */
  readonly row: number
  readonly meter: Meter
  /** By which it counts calls over HTTP. */
  readonly templates = countedPaths()
  readonly loads: Loads
  /** Undefined if the app has no traces. */
  tracer: Tracer | undefined
  /** What the gateway of this worker answers itself. */
  readonly refusals: RefusalCounts
  /** Chooses the answered calls that are measured. */
  readonly #sampler = new Sampler()
  readonly #reported: ReadonlyMap<string, ReportedCells>

  /**
   * A process has a table of its own with one row, which it reports, and writes its counts to
   * `file`.
   */
  constructor(init: MeteringInit, file?: ReportFile) {
    const { kind, slot, hosts, cells, row, shape, instances } = init
    this.table = new InstanceTable(shape, instances)
    this.row = row ?? 0
    this.refusals = new RefusalCounts(this.table.refusals(this.row))
    this.meter = new Meter(this.table.edges(this.row), slot, this.templates)
    const reported = file === undefined ? [] : hosts
    this.#reported = new Map(reported.map(({ name }) => [name, new ReportedCells(...this.#cellsOf(name), file!)]))
    this.loads = kind === 'process' ? noLoads : new SharedLoads(cells!, this.table, this.row)
  }

  /** The app has these services from now on. `places`: all that have counts. */
  update(services: readonly Service[], places: readonly ServiceShape[]): void {
    this.table.update(places)
    for (const one of configuredTemplates(services)) this.templates.configure(one)
  }

  of(service: string): InstanceCells {
    return this.#reported.get(service) ?? new InstanceCells(...this.#cellsOf(service))
  }

  queueOf(service: string): QueueCells {
    return new QueueCells(this.table.cellsAt(this.row, service))
  }

  /** Call it before anything is served. Returns a function that sends the spans that wait. */
  startTraces({ traces }: App, outbox: Outbox): () => void {
    if (traces === undefined) return () => {}
    const sender = new SpanSender(outbox)
    this.tracer = new Tracer(traces, sender)
    return () => sender.flush()
  }

  /** Once a second. */
  renew(): void {
    this.meter.renew()
    this.#sampler.renew()
  }

  #cellsOf(service: string): [Uint32Array, CallTimes] {
    return [this.table.cellsAt(this.row, service), this.table.timesAt(this.row, service, this.#sampler)]
  }
}
