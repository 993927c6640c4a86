import { WorkerCells } from '../../shared/cells.ts'
import type { InstanceCells, InstanceTable } from '../../shared/instances.ts'

/** What a worker knows of how busy others are, and itself. */
export interface Loads {
  /** Calls in flight at the instance of `service` in the worker of `row`; 0 where nothing is known. */
  inFlight(row: number | undefined, service: string): number
  /** Calls that it has begun to answer, since ever; wraps at 32 bits. */
  begun(row: number | undefined, service: string): number
  /** Its event loop has not turned for so long that a call to it would only wait. */
  isStale(row: number | undefined): boolean
  /** Calls in flight at this worker's own instance. */
  ownInFlight(service: string): number
  /** The part of the time that this worker's event loop was busy, 0 to 1. */
  readonly ownUtilization: number
  /** Another one about ten times a second. */
  readonly ownBeat: number
}

/** Where there is nobody else, or no memory in common. */
export const noLoads: Loads = {
  inFlight: () => 0,
  begun: () => 0,
  isStale: () => false,
  ownInFlight: () => 0,
  ownUtilization: 0,
  ownBeat: 0,
}

/** Milliseconds without a heartbeat. */
const stale = 1000

/**
 * Read from the memory that all threads share. Heartbeats are compared with this worker's own, which is a clock that
 * costs nothing to read; where this one stood still itself, the others look young, and rightly nobody is skipped.
 */
export class SharedLoads implements Loads {
  readonly #cells: readonly WorkerCells[]
  readonly #instances: ReadonlyMap<string, readonly InstanceCells[]>
  readonly #row: number

  constructor(cells: SharedArrayBuffer, table: InstanceTable, row: number) {
    const { rows, services } = table.shape
    const all = Array.from({ length: rows }, (_, at) => at)
    this.#cells = all.map((at) => new WorkerCells(cells, at))
    this.#instances = new Map(services.map(({ name }) => [name, all.map((at) => table.at(at, name))]))
    this.#row = row
  }

  inFlight(row: number | undefined, service: string): number {
    return row === undefined ? 0 : (this.#instances.get(service)?.[row]?.inFlight ?? 0)
  }

  begun(row: number | undefined, service: string): number {
    return row === undefined ? 0 : (this.#instances.get(service)?.[row]?.calls ?? 0)
  }

  isStale(row: number | undefined): boolean {
    if (row === undefined) return false
    const age = (this.#cells[this.#row]!.lastBeat - this.#cells[row]!.lastBeat) | 0
    return age > stale
  }

  ownInFlight(service: string): number {
    return this.inFlight(this.#row, service)
  }

  get ownUtilization(): number {
    return this.#cells[this.#row]!.utilization
  }

  get ownBeat(): number {
    return this.#cells[this.#row]!.lastBeat
  }
}
