import { InstanceTable } from '../shared/instances.ts'
import { bucketCount } from '../shared/latency.ts'

/** Which place the worker of a row fills. */
export interface RowOwner {
  readonly place: number
}

/** What one worker after the other has done in a place, for one service. */
export interface PlaceTotals {
  calls: number
  failures: number
  /** Calls that were refused there since too many were waiting. */
  shed: number
  callsPerSecond: number
}

/** Of one caller and callee. */
export interface PairTotals {
  readonly caller: string
  readonly callee: string
  /** In milliseconds. */
  sum: number
  /** By bucket of `latency.ts`. */
  readonly counts: Float64Array
}

/**
 * Makes totals of what rows say: rows are cleared when their worker is replaced, and their counters wrap. Totals only
 * grow, and however many look at them do not disturb each other.
 */
export class Ledger {
  readonly #table: InstanceTable
  /** The rows as they were last looked at, and as they are just now: one copy, so that nothing is counted twice or missed. */
  readonly #seen: InstanceTable
  readonly #now: InstanceTable
  readonly #owners = new Map<number, RowOwner>()
  readonly #places = new Map<string, PlaceTotals>()
  readonly #pairs = new Map<string, PairTotals>()
  #callsAtTick = new Map<PlaceTotals, number>()

  constructor(table: InstanceTable) {
    this.#table = table
    this.#seen = new InstanceTable(table.shape)
    this.#now = new InstanceTable(table.shape)
  }

  /** The row gets a new worker, and is empty for it; but for what was given up there, until it serves. */
  assign(row: number, owner: RowOwner): void {
    this.retire(row)
    this.#owners.set(row, owner)
  }

  /** The row's worker has ended: what it did is kept, what it held is free. */
  retire(row: number): void {
    this.#collect(row)
    this.#failInFlight(row)
    this.#owners.delete(row)
    this.#table.clear(row)
    this.#seen.clear(row)
  }

  /** Adds up what has been done since it was last called. */
  collect(): void {
    for (const row of this.#owners.keys()) this.#collect(row)
  }

  /** About once a second; `seconds`: since the last time. */
  tick(seconds: number): void {
    this.collect()
    const calls = new Map([...this.#places.values()].map((totals) => [totals, totals.calls]))
    for (const totals of calls.keys())
      totals.callsPerSecond = (totals.calls - (this.#callsAtTick.get(totals) ?? 0)) / seconds
    this.#callsAtTick = calls
  }

  of(place: number, service: string): Readonly<PlaceTotals> {
    return this.#totalsOf(place, service)
  }

  get pairs(): readonly PairTotals[] {
    return [...this.#pairs.values()]
  }

  #collect(row: number): void {
    const owner = this.#owners.get(row)
    if (owner === undefined) return
    this.#now.block(row).set(this.#table.block(row))
    for (const { name } of this.#table.shape.services) this.#collectService(row, owner.place, name)
    this.#collectPairs(row)
    this.#seen.block(row).set(this.#now.block(row))
  }

  #collectService(row: number, place: number, service: string): void {
    const [now, seen] = [this.#now.at(row, service), this.#seen.at(row, service)]
    const [calls, failures, shed] = [
      grown(now.calls, seen.calls),
      grown(now.failures, seen.failures),
      grown(now.shed, seen.shed),
    ]
    if (calls + failures + shed === 0) return
    const totals = this.#totalsOf(place, service)
    totals.calls += calls
    totals.failures += failures
    totals.shed += shed
  }

  /** What its worker had begun and not ended gets no answer any more. */
  #failInFlight(row: number): void {
    const owner = this.#owners.get(row)
    if (owner === undefined) return
    for (const { name } of this.#table.shape.services) {
      const { inFlight } = this.#table.at(row, name)
      if (inFlight > 0) this.#totalsOf(owner.place, name).failures += inFlight
    }
  }

  #collectPairs(row: number): void {
    const seen = this.#seen.latencies(row).read()
    for (const [at, { caller, callee, sum, counts }] of this.#now.latencies(row).read().entries()) {
      const before = seen[at]
      const totals = this.#pairOf(caller, callee)
      totals.sum += grown(sum, before?.sum ?? 0)
      for (let bucket = 0; bucket < bucketCount; bucket++)
        totals.counts[bucket]! += grown(counts[bucket]!, before?.counts[bucket] ?? 0)
    }
  }

  #totalsOf(place: number, service: string): PlaceTotals {
    const key = `${place} ${service}`
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const totals = { calls: 0, failures: 0, shed: 0, callsPerSecond: 0 }
    this.#places.set(key, totals)
    return totals
  }

  #pairOf(caller: string, callee: string): PairTotals {
    const key = `${caller} ${callee}`
    const known = this.#pairs.get(key)
    if (known !== undefined) return known
    const totals = { caller, callee, sum: 0, counts: new Float64Array(bucketCount) }
    this.#pairs.set(key, totals)
    return totals
  }
}

/** Of counters that wrap at 32 bits. */
function grown(now: number, before: number): number {
  return (now - before) >>> 0
}
