import type { DirectEdge } from '../../shared/entrance.ts'
import {
  type EdgeKey,
  type EdgeTable,
  isTransport,
  noStatus,
  otherMethods,
  outside,
} from '../../shared/metrics/edge-table.ts'
import { bucketCount } from '../../shared/metrics/latency-buckets.ts'

/** The calls of one edge, of all workers since the start of the app. */
export interface EdgeTotal extends EdgeKey {
  /** Calls in flight. */
  inFlight: number
  /** How often calls were sent again. */
  retries: number
  callsPerSecond: number
  readonly outcomes: Map<number, OutcomeTotal>
}

export interface OutcomeTotal {
  /** {@link noStatus}, a status of HTTP, or a class of them: 4 for 4xx. */
  readonly status: number
  count: number
  /** In milliseconds. */
  sum: number
  /**
   * By bucket of `latency-buckets.ts`: `count` in all, but for calls that were in flight when their
   * worker ended. Nobody knows when each of them began.
   */
  readonly buckets: Float64Array
}

/** What one row has counted of an outcome. */
interface RowOutcome {
  readonly total: OutcomeTotal
  /**
   * Calls that were added to a bucket before they were accounted for in the row. Negative: calls
   * whose bucket was read, and not their count.
   */
  ahead: number
}

/** A row of the table, as far as it is known. Edges and outcomes are only ever added to it. */
interface KnownRow {
  readonly edges: EdgeTotal[]
  readonly outcomes: RowOutcome[]
}

/**
 * Sums up the edges of all rows. The buckets of a row lag behind its count, since not every call is
 * measured. So the difference counts like the last measured call, and is deducted from what the row
 * accounts for later: totals only grow, and every call that a worker has seen end is in a bucket at
 * any time.
 */
export class EdgeTotals {
  readonly #edges = new Map<string, EdgeTotal>()
  readonly #rows = new Map<number, KnownRow>()
  #callsAtTick = new Map<EdgeTotal, number>()

  get edges(): readonly EdgeTotal[] {
    return [...this.#edges.values()]
  }

  /** Adds what the row has counted between `seen` and `now`. */
  collect(row: number, now: EdgeTable, seen: EdgeTable): void {
    const known = this.#rows.get(row) ?? { edges: [], outcomes: [] }
    this.#rows.set(row, known)
    for (let at = 0; at < now.edges; at++) {
      const total = (known.edges[at] ??= this.#totalOf(now.keyOf(at)))
      const [counts, before] = [now.countsOf(at), seen.countsOf(at)]
      total.inFlight += grown(counts.begun, before.begun) - grown(counts.over, before.over)
      total.retries += grown(counts.retries, before.retries)
    }
    for (let at = 0; at < now.outcomes; at++) this.#collectOutcome(known, at, now, seen)
  }

  /** Adds what the native entrance has counted since the last time. */
  addDirect(edges: readonly DirectEdge[]): void {
    for (const { service, route, method, transport, inFlight, retries, outcomes } of edges) {
      const total = this.#totalOf({
        caller: outside,
        callee: service,
        protocol: 'http',
        method,
        route: method === otherMethods ? '' : route || '/',
        transport: isTransport(transport) ? transport : 'unix',
      })
      total.inFlight += inFlight
      total.retries += retries
      for (const { status, count, sum, buckets } of outcomes) {
        const outcome = outcomeOf(total, status)
        outcome.count += count
        outcome.sum += sum
        for (const [bucket, more] of buckets.entries()) outcome.buckets[bucket]! += more
      }
    }
  }

  /** The row's worker has ended. Its calls in flight have no response, and no duration. */
  retire(row: number, table: EdgeTable): void {
    const known = this.#rows.get(row)
    this.#rows.delete(row)
    for (const [at, total] of known?.edges.entries() ?? []) {
      const { begun, over } = table.countsOf(at)
      const lost = (begun - over) | 0
      if (lost <= 0) continue
      total.inFlight -= lost
      outcomeOf(total, noStatus).count += lost
    }
  }

  tick(seconds: number): void {
    const calls = new Map(this.edges.map((total) => [total, callsOf(total)]))
    for (const [total, count] of calls) total.callsPerSecond = (count - (this.#callsAtTick.get(total) ?? 0)) / seconds
    this.#callsAtTick = calls
  }

  #collectOutcome({ edges, outcomes }: KnownRow, at: number, now: EdgeTable, seen: EdgeTable): void {
    const [counts, before] = [now.outcomeOf(at), seen.outcomeOf(at)]
    const row = (outcomes[at] ??= { total: outcomeOf(edges[counts.edge]!, counts.status), ahead: 0 })
    const { total } = row
    const owed = Math.min(0, row.ahead)
    row.ahead -= owed
    let accounted = 0
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      const more = grown(counts.buckets[bucket]!, before.buckets[bucket]!)
      if (more === 0) continue
      const paid = Math.min(more, row.ahead)
      row.ahead -= paid
      total.buckets[bucket]! += more - paid
      accounted += more - paid
    }
    const more = grown(counts.count, before.count) - accounted + owed
    if (more > 0) total.buckets[counts.last]! += more
    row.ahead += more
    total.count += accounted + Math.max(0, more)
    total.sum += grown(counts.sum, before.sum)
  }

  #totalOf(key: EdgeKey): EdgeTotal {
    const text = Object.values(key).join(' ')
    const known = this.#edges.get(text)
    if (known !== undefined) return known
    const total = { ...key, inFlight: 0, retries: 0, callsPerSecond: 0, outcomes: new Map() }
    this.#edges.set(text, total)
    return total
  }
}

function outcomeOf({ outcomes }: EdgeTotal, status: number): OutcomeTotal {
  let found = outcomes.get(status)
  if (found === undefined) {
    found = { status, count: 0, sum: 0, buckets: new Float64Array(bucketCount) }
    outcomes.set(status, found)
  }
  return found
}

/** Of these calls, those whose duration is known. */
export function timedOf({ buckets }: Pick<OutcomeTotal, 'buckets'>): number {
  return buckets.reduce((sum, count) => sum + count, 0)
}

/** Calls that are over. */
export function callsOf({ outcomes }: EdgeTotal): number {
  let calls = 0
  for (const { count } of outcomes.values()) calls += count
  return calls
}

/** The increase of a counter that wraps at 32 bits. */
function grown(now: number, before: number): number {
  return (now - before) >>> 0
}
