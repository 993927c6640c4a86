import type { Distribution, LoadJob, LoadRequest } from '../engine/job.ts'
import { load, type Engine } from '../engine/load.ts'
import { binsOf, percentileOf, type Bin } from '../stats/histogram.ts'

/** A server that gets load at fixed rates. */
export interface RateTarget {
  readonly engine: Engine
  readonly target: LoadJob['target']
  /** One turn: sent one after the other, again and again. */
  readonly requests: readonly LoadRequest[]
  readonly connections: number
  /** Requests in flight on each connection. */
  readonly pipelining: number
  /** Length of one probe. */
  readonly probeMs: number
  readonly signal: AbortSignal
}

/** What was measured at one rate. Times are milliseconds. */
export interface Probe {
  /** Requests due per second. Null: as many as possible. */
  readonly rate: number | null
  /** Good answers per second. */
  readonly perSecond: number
  /** Answers whose latency was measured. */
  readonly count: number
  readonly min: number
  readonly mean: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** By name, such as `p90`. */
  readonly percentiles: Readonly<Record<string, number>>
  readonly histogram: readonly Bin[]
  /** Wrong answers and broken connections, and the first of them. */
  readonly failed: number
  readonly firstProblem: string | null
  readonly statuses: Readonly<Record<string, number>>
  /** Share of the requests due that were not answered in time. */
  readonly missed: number
  /** The generator itself was late, by milliseconds at p99. */
  readonly generatorLate: number
}

/** The start of each probe that is not counted, as a share. */
const discarded = 0.15

export async function probe(options: RateTarget, rate: number | null, seed: number): Promise<Probe> {
  const { engine, target, requests, connections, pipelining, probeMs, signal } = options
  const job: LoadJob = {
    target,
    requests: [...requests],
    connections,
    pipelining,
    discardMs: Math.round(probeMs * discarded),
    seed,
    load:
      rate === null
        ? { loop: 'closed', durationMs: probeMs }
        : { loop: 'open', durationMs: probeMs, rate, arrivals: 'poisson' },
  }
  const { result } = await load(engine, job, signal)
  const missed = result.unsent + result.unfinished + result.late
  const { latency } = result
  return {
    rate,
    perSecond: result.perSecond,
    count: latency.count,
    min: latency.min,
    mean: latency.mean,
    p50: latency.p50,
    p99: latency.p99,
    max: latency.max,
    percentiles: percentilesOf(latency),
    histogram: binsOf(latency.buckets),
    failed: result.failed + result.connectFailures,
    firstProblem: result.firstProblem,
    statuses: result.statuses,
    missed: missed / Math.max(1, missed + result.done),
    generatorLate: result.pacing?.p99 ?? 0,
  }
}

const shares = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999]

/** Empty if no latencies were measured. */
function percentilesOf({ count, buckets }: Distribution): Record<string, number> {
  if (count === 0) return {}
  const named = shares.map((share) => [`p${Number((share * 100).toFixed(1))}`, percentileOf(buckets, count, share)])
  return Object.fromEntries(named) as Record<string, number>
}
