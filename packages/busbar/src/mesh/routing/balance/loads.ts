import { WorkerCells } from '../../../shared/metrics/worker-cells.ts'
import type { InstanceCells } from '../../../shared/metrics/instance-cells.ts'
import type { InstanceTable } from '../../../shared/metrics/instance-table.ts'

/** How busy this worker and the others are, as far as this worker knows. */
export interface Loads {
  /** Calls in flight at the instance of `service` in the worker of `row`. 0 if unknown. */
  inFlight(row: number | undefined, service: string): number
  /** Calls that it has begun to answer in total. Wraps at 32 bits. */
  begun(row: number | undefined, service: string): number
  /** True if its event loop is blocked: its last heartbeat is old. */
  isStale(row: number | undefined): boolean
  /** Calls in flight at this worker's own instance. */
  ownInFlight(service: string): number
  /** The share of time that this worker's event loop was busy, 0 to 1. */
  readonly ownUtilization: number
  /** This worker's last heartbeat. There are about ten a second. */
  readonly ownBeat: number
}

/** For a worker without others, or without shared memory. */
export const noLoads: Loads = {
  inFlight: () => 0,
  begun: () => 0,
  isStale: () => false,
  ownInFlight: () => 0,
  ownUtilization: 0,
  ownBeat: 0,
}

/** Milliseconds without a heartbeat after which a worker is stale. */
const staleAfter = 1000

/**
 * Reads the loads from shared memory. Heartbeats are compared with this worker's own, a clock that
 * costs nothing to read. If this worker was blocked itself, the others look fresh and none is
 * skipped, as it should be.
 */
export class SharedLoads implements Loads {
  readonly #cells: SharedArrayBuffer
  readonly #table: InstanceTable
  /** By row, and by row within a service: created when they are first read. */
  readonly #rows: WorkerCells[] = []
  readonly #instances = new Map<string, InstanceCells[]>()
  readonly #row: number

  constructor(cells: SharedArrayBuffer, table: InstanceTable, row: number) {
    this.#cells = cells
    this.#table = table
    this.#row = row
  }

  inFlight(row: number | undefined, service: string): number {
    return row === undefined ? 0 : this.#instance(row, service).inFlight
  }

  begun(row: number | undefined, service: string): number {
    return row === undefined ? 0 : this.#instance(row, service).calls
  }

  isStale(row: number | undefined): boolean {
    if (row === undefined) return false
    const age = (this.#worker(this.#row).lastBeat - this.#worker(row).lastBeat) | 0
    return age > staleAfter
  }

  ownInFlight(service: string): number {
    return this.inFlight(this.#row, service)
  }

  get ownUtilization(): number {
    return this.#worker(this.#row).utilization
  }

  get ownBeat(): number {
    return this.#worker(this.#row).lastBeat
  }

  #worker(row: number): WorkerCells {
    return (this.#rows[row] ??= new WorkerCells(this.#cells, row))
  }

  #instance(row: number, service: string): InstanceCells {
    let rows = this.#instances.get(service)
    if (rows === undefined) this.#instances.set(service, (rows = []))
    return (rows[row] ??= this.#table.at(row, service))
  }
}
