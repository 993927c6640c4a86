import type { DirectEdge } from '../../shared/entrance/entrance.ts'
import { InstanceTable } from '../../shared/metrics/instance-table.ts'
import { QueueCells, queueCounters } from '../../shared/metrics/queue-cells.ts'
import { listRefusals, type RefusalCount, refusalReasons } from '../../shared/metrics/refusals.ts'
import { bucketCount } from '../../shared/metrics/latency-buckets.ts'
import { type EdgeTotal, EdgeTotals } from './edge-totals.ts'

/** The worker that writes a row. */
export interface RowOwner {
  /** The index of its slot. */
  readonly slot: number
}

/** The counters of one service in one slot, summed over the slot's successive workers. */
export interface InstanceTotals {
  calls: number
  failures: number
  /** Calls that were refused because too many were waiting. */
  shed: number
  /** As {@link EventCounts} has them. */
  eventsHandled: number
  eventsFailed: number
  eventsDropped: number
  /** As {@link QueueCounts} has them. */
  readonly queue: { enqueued: number; duplicates: number; attempts: number; failures: number; buried: number }
  callsPerSecond: number
}

/** The calls of one caller to one callee. */
export interface PairTotals {
  readonly caller: string
  readonly callee: string
  /** Calls that are over. */
  count: number
  /** In milliseconds. */
  sum: number
  /** By bucket of `latency-buckets.ts`, of the calls whose duration is known. */
  readonly counts: Float64Array
}

/**
 * Sums up the counters of the rows. A row is cleared when its worker is replaced, and its counters
 * wrap; totals only grow. Any number of readers can share them.
 */
export class CallTotals {
  readonly #table: InstanceTable
  /** The rows at the last collection. */
  readonly #seen: InstanceTable
  /**
   * A copy of the row being collected, so that no change during the collection is missed or counted
   * twice.
   */
  readonly #now: InstanceTable
  readonly #owners = new Map<number, RowOwner>()
  readonly #instances = new Map<string, InstanceTotals>()
  readonly #services = new Map<string, InstanceTotals[]>()
  readonly #edges = new EdgeTotals()
  readonly #refusals = new Float64Array(refusalReasons.length)
  #callsAtTick = new Map<InstanceTotals, number>()

  constructor(table: InstanceTable) {
    this.#table = table
    // Only the counters: nobody takes slots here.
    const shape = { ...table.shape, services: namesOf(table) }
    this.#seen = new InstanceTable(shape)
    this.#now = new InstanceTable(shape)
  }

  /** The table has got further services. */
  update(): void {
    for (const copy of [this.#seen, this.#now]) copy.update(namesOf(this.#table))
  }

  /**
   * The row gets a new worker. It is cleared, except for slots of abandoned calls, which stay until
   * the worker serves.
   */
  assign(row: number, owner: RowOwner): void {
    this.retire(row)
    this.#owners.set(row, owner)
  }

  /** The row's worker has ended: its counters are kept, and the slots that it held are released. */
  retire(row: number): void {
    this.#collect(row)
    this.#failInFlight(row)
    this.#retireEdges(row)
    this.#owners.delete(row)
    this.#table.clear(row)
    this.#seen.clear(row)
  }

  /** Adds what the rows have counted since the last call, and what the native entrance has. */
  collect(direct: readonly DirectEdge[] = []): void {
    for (const row of this.#owners.keys()) this.#collect(row)
    this.#edges.addDirect(direct)
  }

  /** Called about once a second. `seconds`: since the last call. */
  tick(seconds: number, direct: readonly DirectEdge[] = []): void {
    this.collect(direct)
    const calls = new Map([...this.#instances.values()].map((totals) => [totals, totals.calls]))
    for (const totals of calls.keys())
      totals.callsPerSecond = (totals.calls - (this.#callsAtTick.get(totals) ?? 0)) / seconds
    this.#callsAtTick = calls
    this.#edges.tick(seconds)
  }

  of(slot: number, service: string): Readonly<InstanceTotals> {
    return this.#totalsOf(slot, service)
  }

  /** In all slots that the service has ever had. */
  ofService(service: string): readonly Readonly<InstanceTotals>[] {
    return this.#services.get(service) ?? []
  }

  /** What the gateways of workers have answered themselves. */
  get refusals(): readonly RefusalCount[] {
    return listRefusals(this.#refusals)
  }

  get edges(): readonly EdgeTotal[] {
    return this.#edges.edges
  }

  get pairs(): readonly PairTotals[] {
    const pairs = new Map<string, PairTotals>()
    for (const { caller, callee, outcomes } of this.edges) {
      const key = `${caller} ${callee}`
      const pair = pairs.get(key) ?? { caller, callee, count: 0, sum: 0, counts: new Float64Array(bucketCount) }
      pairs.set(key, pair)
      for (const { count, sum, buckets } of outcomes.values()) {
        pair.count += count
        pair.sum += sum
        buckets.forEach((more, bucket) => (pair.counts[bucket]! += more))
      }
    }
    return [...pairs.values()]
  }

  #collect(row: number): void {
    const owner = this.#owners.get(row)
    if (owner === undefined) return
    // An idle app would otherwise spend a third of its supervisor's time here.
    if (areEqual(this.#table.usedBlock(row), this.#seen.usedBlock(row))) return
    this.#now.copy(row, this.#table)
    for (const { name } of this.#table.shape.services) this.#collectService(row, owner.slot, name)
    const [refusals, before] = [this.#now.refusals(row), this.#seen.refusals(row)]
    for (const at of this.#refusals.keys()) this.#refusals[at]! += grown(refusals[at]!, before[at]!)
    this.#edges.collect(row, this.#now.edges(row), this.#seen.edges(row))
    this.#seen.copy(row, this.#now)
  }

  #collectService(row: number, slot: number, service: string): void {
    const [now, seen] = [this.#now.at(row, service), this.#seen.at(row, service)]
    const [calls, failures, shed] = [
      grown(now.calls, seen.calls),
      grown(now.failures, seen.failures),
      grown(now.shed, seen.shed),
    ]
    const [events, before] = [now.events, seen.events]
    const handled = grown(events.handled, before.handled)
    const dropped = grown(events.dropped, before.dropped)
    const queue = new QueueCells(this.#now.cellsAt(row, service)).counts
    const queueBefore = new QueueCells(this.#seen.cellsAt(row, service)).counts
    const hasQueued = queueCounters.some((name) => queue[name] !== queueBefore[name])
    if (calls + failures + shed + handled + dropped === 0 && !hasQueued) return
    const totals = this.#totalsOf(slot, service)
    for (const name of queueCounters) totals.queue[name] += grown(queue[name], queueBefore[name])
    totals.eventsHandled += handled
    totals.eventsFailed += grown(events.failed, before.failed)
    totals.eventsDropped += dropped
    totals.calls += calls
    totals.failures += failures
    totals.shed += shed
  }

  #retireEdges(row: number): void {
    const owner = this.#owners.get(row)
    if (owner === undefined) return
    const hosts = (service: string): boolean => this.#hosts(row, service)
    this.#edges.retire(row, this.#table.edges(row), { slot: owner.slot, hosts })
  }

  #hosts(row: number, service: string): boolean {
    const isListed = this.#table.shape.services.some(({ name }) => name === service)
    return isListed && this.#table.at(row, service).state !== 'absent'
  }

  /** Counts the in-flight calls of an ended worker as failures. */
  #failInFlight(row: number): void {
    const owner = this.#owners.get(row)
    if (owner === undefined) return
    for (const { name } of this.#table.shape.services) {
      const { inFlight } = this.#table.at(row, name)
      if (inFlight > 0) this.#totalsOf(owner.slot, name).failures += inFlight
    }
  }

  #totalsOf(slot: number, service: string): InstanceTotals {
    const key = `${slot} ${service}`
    const known = this.#instances.get(key)
    if (known !== undefined) return known
    const events = { eventsHandled: 0, eventsFailed: 0, eventsDropped: 0 }
    const queue = { enqueued: 0, duplicates: 0, attempts: 0, failures: 0, buried: 0 }
    const totals = { calls: 0, failures: 0, shed: 0, ...events, queue, callsPerSecond: 0 }
    this.#instances.set(key, totals)
    this.#services.set(service, [...this.ofService(service), totals])
    return totals
  }
}

function namesOf({ shape }: InstanceTable): { readonly name: string }[] {
  return shape.services.map(({ name }) => ({ name }))
}

/** What is written during the comparison may be missed: the next collection finds it. */
function areEqual(one: Uint32Array, other: Uint32Array): boolean {
  return bytesOf(one).equals(bytesOf(other))
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** The increase of a counter that wraps at 32 bits. */
function grown(now: number, before: number): number {
  return (now - before) >>> 0
}
