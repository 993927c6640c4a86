/**
 * The result of a run, as `--json` writes it. `schema.json` describes it, and a test compares the
 * two.
 */
import type { Metric } from './stats/compare-arms.ts'
import type { Machine } from './machine/describe.ts'
import type { RuntimeMoment } from './machine/samples.ts'
import type { Verdict } from './stats/verdict.ts'

export interface Result {
  readonly version: 1
  readonly scenario: string
  readonly question: string
  /** What `throughput` counts: requests, or runs of a job. */
  readonly unit: 'request' | 'run'
  /** Versions of peers by package, and of commands such as `go`. */
  readonly versions: Readonly<Record<string, string>>
  /** The load generator. `autocannon` measures no latencies. */
  readonly generator: 'busbar-load' | 'autocannon'
  /** Reproduces the order within rounds and the arrivals. */
  readonly seed: number
  /** The command line of the run. */
  readonly command: string
  readonly startedAt: string
  readonly seconds: number
  readonly rounds: number
  /** Why the run stopped before its minimum number of rounds. Null if it did not. */
  readonly stopped: Stopped | null
  readonly machine: Machine
  /**
   * Ratio of two copies of one arm in this session, at least 1. No smaller difference is claimed.
   */
  readonly floor: { readonly perSecond: number; readonly perCpuSecond: number }
  readonly smallestDifference: number
  /** Sentences that a reader must know, such as why latency has no verdict. */
  readonly notes: readonly string[]
  readonly arms: readonly ArmResult[]
  readonly comparisons: readonly ComparisonResult[]
}

export interface Stopped {
  readonly by: 'budget' | 'hand'
  readonly wanted: number
}

export interface ArmResult {
  readonly name: string
  readonly title: string
  /** True for the second copy of another arm, mostly the baseline. Its difference is noise. */
  readonly control: boolean
  readonly valid: boolean
  readonly invalidBecause: readonly string[]
  /** Rounds before which it had too few requests to be fast, or no steady rate. */
  readonly coldRounds: number
  readonly parameters: {
    readonly workers: number
    readonly connections: number
    readonly pipelining: number
    readonly rate: number | null
  }
  readonly throughput: Throughput
  /** Milliseconds, over all slices. Failed and missing answers count with the time waited. */
  readonly latency: Latency | null
  /** At fixed rates, each a share of the baseline's capacity. */
  readonly open: readonly OpenResult[]
  /** Latency of probe requests during the load. Null if the scenario has no probe. */
  readonly probe: Latency | null
  readonly status: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<string, number>>
  /** Requests of the closed loop without an answer after two seconds. */
  readonly unanswered: number
  readonly server: ServerResult
  /** In the order of execution: first the closed loops of a round, then its fixed rates. */
  readonly slices: readonly SliceResult[]
}

/** Medians over rounds, in requests. Null without a good slice. */
export interface Throughput {
  readonly perSecond: number | null
  readonly perCpuSecond: number | null
  readonly bytesPerSecond: number | null
  /** The load generator was the bottleneck, so `perSecond` is its limit. */
  readonly saturated: boolean
}

export interface Latency {
  readonly mean: number
  readonly stdev: number
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
  /** Missing in older results. */
  readonly min?: number
  /** [upper edge, count]. Empty in a compact result. */
  readonly buckets: readonly (readonly [number, number])[]
}

export interface OpenResult {
  readonly share: number
  /** Requests due per second, with Poisson arrivals. */
  readonly rate: number
  /** Good answers per second. */
  readonly perSecond: number
  /** Since the time at which each request was due. */
  readonly latency: Latency | null
  /** The rate exceeded the arm's capacity. */
  readonly overloaded: boolean
  /** The load generator itself was late, which distorts the latencies. */
  readonly generatorLate: boolean
}

/** Medians over slices. Null if unknown. Sizes are bytes, summed over processes and threads. */
export interface ServerResult {
  /** CPU cores kept busy. */
  readonly cores: number | null
  readonly pss: number | null
  readonly rss: number | null
  readonly processes: number | null
  /** From here on sampled inside the Node programs. */
  readonly threads: number | null
  readonly heapTotal: number | null
  readonly heapUsed: number | null
  readonly newSpace: number | null
  readonly oldSpace: number | null
  /** Share of the time in which the busiest event loop was busy. */
  readonly utilisation: number | null
  /** Delay of timers at p99 in milliseconds, of the slowest thread. */
  readonly loopDelay: number | null
  /** Garbage collection as a share of one core. */
  readonly gc: number | null
}

export interface SliceResult {
  readonly round: number
  /** The fixed rate as a share of the baseline's capacity. Null in a closed loop. */
  readonly share: number | null
  readonly perSecond: number
  readonly perCpuSecond: number | null
  readonly p50: number | null
  readonly p99: number | null
  readonly steal: number
  /** Cores kept busy by other programs. */
  readonly otherCores: number | null
  /**
   * Per tenth of a second: requests answered, and their p99 in milliseconds. Empty in a compact
   * result.
   */
  readonly series: readonly (readonly [done: number, p99: number])[]
  /** Samples of the Node programs, four per second. Empty in a compact result. */
  readonly runtime: readonly RuntimeMoment[]
}

export interface ComparisonResult {
  readonly baseline: string
  readonly arm: string
  readonly metric: Metric
  /** For a latency: the rate as a share of the baseline's capacity. Null for throughput. */
  readonly share: number | null
  readonly ratio: number
  readonly low: number
  readonly high: number
  readonly confidence: number
  /** Degrees of freedom of the interval. Missing in older results: rounds - 1. */
  readonly freedom?: number
  readonly rounds: number
  readonly verdict: Verdict
  /**
   * True for the comparisons that answer the question: the reliable throughput, and p99 at fixed
   * rates.
   */
  readonly decides: boolean
}
