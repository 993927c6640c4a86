import type { DirectEdge } from '../../shared/entrance/entrance.ts'
import { noWorker, pairOf, workerOf } from '../../shared/metrics/worker-pair.ts'
import {
  type EdgeKey,
  type EdgeTable,
  isTransport,
  noStatus,
  otherMethods,
  others,
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

export interface OutcomeTotal extends PartTotal {
  /** {@link noStatus}, a status of HTTP, or a class of them: 4 for 4xx. */
  readonly status: number
  /** The same calls by the workers that made and answered them: by `pairOf` of `worker-pair.ts`. */
  readonly parts: Map<number, PartTotal>
}

export interface PartTotal {
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
  readonly counted: Counted
  /**
   * Calls that were added to a bucket before they were accounted for in the row. Negative: calls
   * whose bucket was read, and not their count.
   */
  ahead: number
}

/** A total, and the part of it that a call is in: what adds to one adds to the other. */
type Counted = readonly [OutcomeTotal, PartTotal]

/** The worker of a row that has ended. */
export interface EndedWorker {
  readonly slot: number
  /** Whether it had an instance of the service. */
  readonly hosts: (service: string) => boolean
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
      for (const { status, slot, count, sum, buckets } of outcomes)
        for (const one of countedAt(total, status, pairOf(noWorker, workerOf(slot)))) {
          one.count += count
          one.sum += sum
          for (const [bucket, more] of buckets.entries()) one.buckets[bucket]! += more
        }
    }
  }

  /** The row's worker has ended. Its calls in flight have no response, and no duration. */
  retire(row: number, table: EdgeTable, worker: EndedWorker): void {
    const known = this.#rows.get(row)
    this.#rows.delete(row)
    for (const [at, total] of known?.edges.entries() ?? []) {
      const { begun, over } = table.countsOf(at)
      const lost = (begun - over) | 0
      if (lost <= 0) continue
      total.inFlight -= lost
      for (const one of countedAt(total, noStatus, pairOfLost(total, worker))) one.count += lost
    }
  }

  tick(seconds: number): void {
    const calls = new Map(this.edges.map((total) => [total, callsOf(total)]))
    for (const [total, count] of calls) total.callsPerSecond = (count - (this.#callsAtTick.get(total) ?? 0)) / seconds
    this.#callsAtTick = calls
  }

  #collectOutcome({ edges, outcomes }: KnownRow, at: number, now: EdgeTable, seen: EdgeTable): void {
    const [counts, before] = [now.outcomeOf(at), seen.outcomeOf(at)]
    const row = (outcomes[at] ??= { counted: countedAt(edges[counts.edge]!, counts.status, counts.pair), ahead: 0 })
    const owed = Math.min(0, row.ahead)
    row.ahead -= owed
    let accounted = 0
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      const more = grown(counts.buckets[bucket]!, before.buckets[bucket]!)
      if (more === 0) continue
      const paid = Math.min(more, row.ahead)
      row.ahead -= paid
      for (const one of row.counted) one.buckets[bucket]! += more - paid
      accounted += more - paid
    }
    const more = grown(counts.count, before.count) - accounted + owed
    row.ahead += more
    for (const one of row.counted) {
      if (more > 0) one.buckets[counts.last]! += more
      one.count += accounted + Math.max(0, more)
      one.sum += grown(counts.sum, before.sum)
    }
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

function countedAt({ outcomes }: EdgeTotal, status: number, pair: number): Counted {
  let total = outcomes.get(status)
  if (total === undefined) outcomes.set(status, (total = { status, ...noCalls(), parts: new Map() }))
  let part = total.parts.get(pair)
  if (part === undefined) total.parts.set(pair, (part = noCalls()))
  return [total, part]
}

function noCalls(): PartTotal {
  return { count: 0, sum: 0, buckets: new Float64Array(bucketCount) }
}

/**
 * The workers of calls that were in flight when `worker` ended, which has counted them: as their
 * caller, or on the documented path between services as the one that answers.
 */
function pairOfLost({ caller, callee, transport }: EdgeKey, { slot, hosts }: EndedWorker): number {
  const own = workerOf(slot)
  if (callee === others) return pairOf(noWorker, noWorker)
  if (transport === 'local') return pairOf(caller === outside ? noWorker : own, own)
  if (caller === outside) return pairOf(noWorker, noWorker)
  return hosts(caller) ? pairOf(own, noWorker) : pairOf(noWorker, hosts(callee) ? own : noWorker)
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
