/**
 * Counts of each worker's work for the app's services, readable by every thread at any time: one
 * block per row of {@link WorkerCells}, written by that worker alone with plain stores. The
 * supervisor writes the block of a process, from its reports.
 *
 *     block of row 0 │ service 0 │ service 1 │ … unused │ times 0 │ times 1 │ … │ refusals │ edges │
 *     block of row 1 │ …
 *
 *     service │ state │ begun │ over │ failures │ shed │ waiting │ events … │ queue … │ padding to 128 bytes │
 *
 * `call-times.ts` describes the times, `queue-cells.ts` the queue, `refusals.ts` what the gateway
 * answers itself, `edge-table.ts` the edges.
 * Counters wrap and are compared by difference: a reader that looks every second misses nothing. A
 * service keeps its place for as long as the app runs, and services that a new config adds take the
 * unused ones, so that workers of two generations read the same memory. The slots of a service with
 * a limit are memory of their own (`concurrency-slots.ts`), since a new config may change the
 * limit.
 */
import { CallTimes, callTimesCells } from './call-times.ts'
import { InstanceCells, serviceCell, serviceCells } from './instance-cells.ts'
import { refusalCells } from './refusals.ts'
import { bucketCount } from './latency-buckets.ts'
import { EdgeTable, edgeTableCells } from './edge-table.ts'
import type { Sampler } from './sampler.ts'
import { slotCells, ConcurrencySlots } from '../calls/concurrency-slots.ts'

/** What determines the memory layout: the same wherever it is opened. */
export interface InstancesShape {
  /** As many as the worker cells have. */
  readonly rows: number
  /** In the order of their places. Those that a new config has removed stay. */
  readonly services: readonly ServiceShape[]
  /** How many services have a place. Default: no more than `services`. */
  readonly places?: number | undefined
}

export interface ServiceShape {
  readonly name: string
  /** How many calls one instance answers at a time; undefined without a limit. */
  readonly concurrency?: number | undefined
  /** The memory of its slots. Default, with a limit: new memory. */
  readonly slots?: SharedArrayBuffer | undefined
}

export class InstanceTable {
  readonly memory: SharedArrayBuffer
  readonly #rows: number
  readonly #places: number
  readonly #blockCells: number
  readonly #all: Uint32Array
  #services: readonly ServiceShape[] = []
  /** Shared with the edges, which see services that are added. */
  readonly #names: string[] = []
  #slots: ReadonlyMap<string, ConcurrencySlots> = new Map()

  constructor({ rows, services, places = services.length }: InstancesShape, memory?: SharedArrayBuffer) {
    this.#rows = rows
    this.#places = places
    this.#blockCells = places * (serviceCells + callTimesCells) + refusalCells + edgeTableCells
    this.memory = memory ?? new SharedArrayBuffer(rows * this.#blockCells * Uint32Array.BYTES_PER_ELEMENT)
    this.#all = new Uint32Array(this.memory)
    this.update(services)
  }

  /** With the memory of the slots, so that another thread can open the same. */
  get shape(): InstancesShape {
    return { rows: this.#rows, services: this.#services, places: this.#places }
  }

  /** `services`: the known ones in their places, then new ones. Throws RangeError if too many. */
  update(services: readonly ServiceShape[]): void {
    if (services.length > this.#places) throw new RangeError(`the table has no place for ${services.length} services`)
    const known = this.#services
    this.#services = services.map((service, place) => withSlots(service, this.#rows, known[place]))
    for (const { name } of services.slice(this.#names.length)) this.#names.push(name)
    const slots = new Map<string, ConcurrencySlots>()
    for (const [place, { name, concurrency, slots: memory }] of this.#services.entries()) {
      if (concurrency === undefined) continue
      const before = known[place]?.slots === memory ? this.#slots.get(name) : undefined
      slots.set(name, before ?? new ConcurrencySlots({ rows: this.#rows, concurrency }, new Int32Array(memory!)))
    }
    this.#slots = slots
  }

  /** The cells of one service in the worker of `row`, as its host and as its caller. */
  at(row: number, service: string): InstanceCells {
    return new InstanceCells(this.cellsAt(row, service))
  }

  /** For the host: measures the calls that `sampler` chooses. */
  timesAt(row: number, service: string, sampler: Sampler): CallTimes {
    return new CallTimes(this.#timesCells(row, service), sampler)
  }

  /** How long calls took in the instance, by bucket of `latency-buckets.ts`. */
  readTimes(row: number, service: string): Uint32Array {
    return this.#timesCells(row, service).slice(0, bucketCount)
  }

  cellsAt(row: number, service: string): Uint32Array {
    const place = this.#placeOf(service)
    return this.block(row).subarray(place * serviceCells, (place + 1) * serviceCells)
  }

  /** Calls that wait in all workers together for an instance with a free slot. */
  waiting(service: string): number {
    const at = this.#placeOf(service) * serviceCells + serviceCell.waiting
    let waiting = 0
    for (let row = 0; row < this.#rows; row++) waiting += this.#all[row * this.#blockCells + at]!
    return waiting
  }

  /** The calls that the worker of `row` has made. */
  edges(row: number): EdgeTable {
    return new EdgeTable(this.#names, this.block(row).subarray(this.#edgesAt), this.#places)
  }

  /** Of the gateway in the worker of `row`: for `RefusalCounts`. */
  refusals(row: number): Uint32Array {
    return this.block(row).subarray(this.#refusalsAt, this.#edgesAt)
  }

  /** Undefined for a service without a limit. */
  slots(service: string): ConcurrencySlots | undefined {
    return this.#slots.get(service)
  }

  /** Everything that one worker writes. */
  block(row: number): Uint32Array {
    return this.#all.subarray(row * this.#blockCells, (row + 1) * this.#blockCells)
  }

  /** The same without its unused end, as a process reports it. */
  usedBlock(row: number): Uint32Array {
    return this.block(row).subarray(0, this.#edgesAt + this.edges(row).used)
  }

  /** Copies what the worker of `row` has written into `source`, even while it writes. */
  copy(row: number, source: InstanceTable): void {
    const written = source.edges(row)
    // An outcome is only added after its edge.
    const { outcomes } = written
    const { edges } = written
    this.block(row).set(source.usedBlock(row))
    this.edges(row).limitTo(edges, outcomes)
  }

  /**
   * The worker of `row` knows of all calls abandoned so far, or has been replaced: frees their
   * slots.
   */
  freeAbandoned(row: number): void {
    for (const slots of this.#slots.values()) slots.freeAbandoned(row)
  }

  /**
   * The worker of `row` has ended: releases what it held and prepares the row for another worker.
   */
  clear(row: number): void {
    for (const slots of this.#slots.values()) {
      slots.releaseAllOf(row)
      slots.forget(row)
    }
    this.usedBlock(row).fill(0)
  }

  #timesCells(row: number, service: string): Uint32Array {
    const start = this.#places * serviceCells + this.#placeOf(service) * callTimesCells
    return this.block(row).subarray(start, start + callTimesCells)
  }

  get #refusalsAt(): number {
    return this.#places * (serviceCells + callTimesCells)
  }

  get #edgesAt(): number {
    return this.#refusalsAt + refusalCells
  }

  #placeOf(service: string): number {
    const place = this.#names.indexOf(service)
    if (place < 0) throw new RangeError(`no service '${service}' in the table`)
    return place
  }
}

/** The slots stay while the limit does: calls in flight hold some. */
function withSlots(service: ServiceShape, rows: number, before: ServiceShape | undefined): ServiceShape {
  const { name, concurrency } = service
  if (concurrency === undefined) return { name }
  const kept = before?.concurrency === concurrency ? before.slots : undefined
  const slots = service.slots ?? kept ?? new SharedArrayBuffer(slotCells({ rows, concurrency }) * 4)
  return { name, concurrency, slots }
}
