import { noLoads, SharedLoads, type Loads } from '../mesh/balance/loads.ts'
import { Meter } from '../mesh/meter.ts'
import { rowsOf } from '../shared/cells.ts'
import type { WorkerInit } from '../shared/control.ts'
import type { CountsFile } from '../shared/counts-file.ts'
import { type InstanceCells, InstanceTable } from '../shared/instances.ts'
import { RecordedCells } from './recorded-cells.ts'

/** What this worker writes down of its services and its calls, and reads of those of others. */
export class Metering {
  readonly table: InstanceTable
  /** Its row in the table. */
  readonly row: number
  readonly meter: Meter
  readonly loads: Loads
  readonly #recorded: ReadonlyMap<string, RecordedCells>

  /** A process has a table of its own, with one row: what it reports. What it counts is in `file` too. */
  constructor(init: Pick<WorkerInit, 'app' | 'kind' | 'hosts' | 'cells' | 'row' | 'instances'>, file?: CountsFile) {
    const { app, kind, hosts, cells, row, instances } = init
    const { services } = app
    this.table = new InstanceTable({ rows: cells === undefined ? 1 : rowsOf(cells), services }, instances)
    this.row = row ?? 0
    this.meter = new Meter(this.table.latencies(this.row))
    const recorded = file === undefined ? [] : hosts
    this.#recorded = new Map(
      recorded.map(({ name }) => [name, new RecordedCells(this.table.cellsAt(this.row, name), file!)]),
    )
    this.loads = kind === 'process' ? noLoads : new SharedLoads(cells!, this.table, this.row)
  }

  of(service: string): InstanceCells {
    return this.#recorded.get(service) ?? this.table.at(this.row, service)
  }
}
