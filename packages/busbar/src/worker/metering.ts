import { noLoads, SharedLoads, type Loads } from '../mesh/balance/loads.ts'
import { Meter } from '../mesh/meter.ts'
import { rowsOf } from '../shared/cells.ts'
import type { WorkerInit } from '../shared/control.ts'
import { type InstanceCells, InstanceTable } from '../shared/instances.ts'

/** What this worker writes down of its services and its calls, and reads of those of others. */
export class Metering {
  readonly table: InstanceTable
  /** Its row in the table. */
  readonly row: number
  readonly meter: Meter
  readonly loads: Loads

  /** A process has a table of its own, with one row: what it reports. */
  constructor({ app, kind, cells, row, instances }: Pick<WorkerInit, 'app' | 'kind' | 'cells' | 'row' | 'instances'>) {
    const { services } = app
    this.table = new InstanceTable({ rows: cells === undefined ? 1 : rowsOf(cells), services }, instances)
    this.row = row ?? 0
    this.meter = new Meter(this.table.latencies(this.row))
    this.loads = kind === 'process' ? noLoads : new SharedLoads(cells!, this.table, this.row)
  }

  of(service: string): InstanceCells {
    return this.table.at(this.row, service)
  }
}
