/**
 * What each worker does and has done for and with the app's services, in memory that everyone may read at any time: one
 * block per row of {@link WorkerCells}, written by that worker alone with plain stores (the supervisor writes the block
 * of a process, from what that reports).
 *
 *     block of row 0 │ service 0 │ service 1 │ … │ latency 0 │ latency 1 │ … │
 *     block of row 1 │ …
 *     slots of each service with a limit (`slots.ts`); latencies are in `latency-table.ts`
 *
 *     service │ state │ begun │ over │ failures │ shed │ waiting │ … padding to 128 bytes │
 *
 * Counters wrap and are compared by difference: a reader that looks every second misses nothing.
 */
import { LatencyTable, latencyCells } from './latency-table.ts'
import { slotCells, Slots } from './slots.ts'

/** What the memory is laid out by: the same wherever it is opened. */
export interface InstancesShape {
  /** As many as the cells have. */
  readonly rows: number
  /** The app's, in its order. */
  readonly services: readonly ServiceShape[]
}

export interface ServiceShape {
  readonly name: string
  /** How many calls one instance answers at a time; undefined without a limit. */
  readonly concurrency?: number | undefined
}

export type InstanceState = 'absent' | 'starting' | 'serving' | 'draining' | 'stopped'

const states: readonly InstanceState[] = ['absent', 'starting', 'serving', 'draining', 'stopped']

const serviceCells = 32
const cell = { state: 0, begun: 1, over: 2, failures: 3, shed: 4, waiting: 5 } as const

export class InstanceTable {
  readonly memory: SharedArrayBuffer
  readonly shape: InstancesShape
  readonly #names: readonly string[]
  readonly #blockCells: number
  readonly #slots: ReadonlyMap<string, Slots>

  constructor(shape: InstancesShape, memory?: SharedArrayBuffer) {
    this.shape = shape
    this.#names = shape.services.map(({ name }) => name)
    this.#blockCells = shape.services.length * serviceCells + latencyCells(shape.services.length)
    const limited = limitedOf(shape, shape.rows * this.#blockCells)
    const cells = limited.at(-1)?.end ?? shape.rows * this.#blockCells
    const all = (this.memory = memory ?? new SharedArrayBuffer(cells * Uint32Array.BYTES_PER_ELEMENT))
    this.#slots = new Map(
      limited.map(({ name, begin, end, slots }) => [
        name,
        new Slots(slots, new Int32Array(all, begin * 4, end - begin)),
      ]),
    )
  }

  /** What the worker of `row` has to do with `service`: as its host, and as its caller. */
  at(row: number, service: string): InstanceCells {
    return new InstanceCells(this.cellsAt(row, service))
  }

  cellsAt(row: number, service: string): Uint32Array {
    const index = this.#names.indexOf(service)
    if (index < 0) throw new RangeError(`no service ${service} in the table`)
    return this.block(row).subarray(index * serviceCells, (index + 1) * serviceCells)
  }

  latencies(row: number): LatencyTable {
    return new LatencyTable(this.#names, this.block(row).subarray(this.#names.length * serviceCells))
  }

  /** Undefined for a service without a limit. */
  slots(service: string): Slots | undefined {
    return this.#slots.get(service)
  }

  /** All that one worker writes: what a process reports, and where that is kept. */
  block(row: number): Uint32Array {
    return new Uint32Array(this.memory, row * this.#blockCells * Uint32Array.BYTES_PER_ELEMENT, this.#blockCells)
  }

  /** The worker of `row` has heard of all calls that their callers gave up before now, or is another. */
  freeGivenUp(row: number): void {
    for (const slots of this.#slots.values()) slots.freeGivenUp(row)
  }

  /** The worker of `row` is gone: what it held is free, and the row is ready for another. */
  clear(row: number): void {
    for (const slots of this.#slots.values()) {
      slots.releaseAllOf(row)
      slots.forget(row)
    }
    this.block(row).fill(0)
  }
}

/** One service, as one worker has to do with it. */
export class InstanceCells {
  readonly #cells: Uint32Array

  constructor(cells: Uint32Array = new Uint32Array(serviceCells)) {
    this.#cells = cells
  }

  get state(): InstanceState {
    return states[this.#cells[cell.state]!] ?? 'absent'
  }

  set state(state: InstanceState) {
    this.#cells[cell.state] = states.indexOf(state)
  }

  /** Calls that this worker's instance answers at this moment: one cell less to write than a count of its own. */
  get inFlight(): number {
    // In this order, so that a call which begins and ends in between makes it no less than nothing.
    const over = this.#cells[cell.over]!
    return (this.#cells[cell.begun]! - over) >>> 0
  }

  /** What {@link CountsFile} keeps: all that is counted of calls. */
  get counts(): Uint32Array {
    return this.#cells.subarray(cell.begun, cell.shed + 1)
  }

  /** Calls that it has begun to answer. */
  get calls(): number {
    return this.#cells[cell.begun]!
  }

  /** Of these, the ones that got no answer or one that says the fault is the service's (a status of 500 or more). */
  get failures(): number {
    return this.#cells[cell.failures]!
  }

  /** Calls that were refused since too many were waiting. */
  get shed(): number {
    return this.#cells[cell.shed]!
  }

  /** Calls that wait in this worker for an instance with room. */
  get waiting(): number {
    return this.#cells[cell.waiting]!
  }

  began(): void {
    this.#cells[cell.begun] = this.#cells[cell.begun]! + 1
  }

  left(failed: boolean): void {
    const cells = this.#cells
    cells[cell.over] = cells[cell.over]! + 1
    if (failed) cells[cell.failures] = cells[cell.failures]! + 1
  }

  countShed(): void {
    this.#cells[cell.shed] = this.#cells[cell.shed]! + 1
  }

  addWaiting(by: 1 | -1): void {
    this.#cells[cell.waiting] = this.#cells[cell.waiting]! + by
  }
}

interface LimitedService {
  readonly name: string
  readonly slots: { readonly rows: number; readonly concurrency: number }
  readonly begin: number
  readonly end: number
}

/** Where in the memory the slots of each service with a limit are, in cells. */
function limitedOf({ rows, services }: InstancesShape, begin: number): LimitedService[] {
  const limited: LimitedService[] = []
  for (const { name, concurrency } of services) {
    if (concurrency === undefined) continue
    const at = limited.at(-1)?.end ?? begin
    limited.push({ name, slots: { rows, concurrency }, begin: at, end: at + slotCells({ rows, concurrency }) })
  }
  return limited
}
