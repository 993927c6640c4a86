/** What a run found, as `--json` writes it; `schema.json` describes the same, and a test holds the two together. */
import type { Metric } from './comparison.ts'
import type { Machine } from './machine/describe.ts'
import type { RuntimeMoment } from './machine/samples.ts'
import type { Verdict } from './stats/verdict.ts'

export interface Result {
  readonly version: 1
  readonly scenario: string
  readonly question: string
  /** What `throughput` counts: requests, or whole runs of a job. */
  readonly unit: 'request' | 'run'
  /** Of the peers that took part, by package, and of `go`. */
  readonly versions: Readonly<Record<string, string>>
  /** What made the load. By `autocannon` there are no latencies. */
  readonly generator: 'busbar-load' | 'autocannon'
  /** Repeats the order of the rounds and the arrivals. */
  readonly seed: number
  /** The command that gave this. */
  readonly command: string
  readonly startedAt: string
  readonly seconds: number
  readonly rounds: number
  /** Why it ended before the rounds that it wanted, of which there may have been more; null where it did not. */
  readonly stopped: Stopped | null
  readonly machine: Machine
  /** Ratio of two identical arms in this session, above 1: no smaller difference is claimed. */
  readonly floor: { readonly perSecond: number; readonly perCpuSecond: number }
  readonly smallestDifference: number
  /** Why latency has no verdict, or other things to know before reading on. */
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
  /** The baseline's second copy: what it differs by is noise. */
  readonly control: boolean
  readonly valid: boolean
  readonly invalidBecause: readonly string[]
  readonly parameters: {
    readonly workers: number
    readonly connections: number
    readonly pipelining: number
    readonly rate: number | null
  }
  readonly throughput: Throughput
  /** Milliseconds, over all slices; what failed or never came is counted with the time it had waited. */
  readonly latency: Latency | null
  /** At fixed rates, each a share of the baseline's capacity. */
  readonly open: readonly OpenResult[]
  /** Of what was asked at a fixed rate beside the load; null where the scenario has no probe. */
  readonly probe: Latency | null
  readonly status: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<string, number>>
  /** Requests of the closed loop that had no answer after two seconds. */
  readonly unanswered: number
  readonly server: ServerResult
  /** One entry per slice, in the order they were run: first a round's closed loops, then its fixed rates. */
  readonly slices: readonly SliceResult[]
}

/** Medians over rounds; requests. Null where no slice was good. */
export interface Throughput {
  readonly perSecond: number | null
  readonly perCpuSecond: number | null
  readonly bytesPerSecond: number | null
  /** The generator had no time to wait, so that `perSecond` is its own. */
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
  /** [upper edge, count]; none in a compact result. */
  readonly buckets: readonly (readonly [number, number])[]
}

export interface OpenResult {
  readonly share: number
  /** Requests due in a second, by a Poisson clock. */
  readonly rate: number
  /** Good answers a second. */
  readonly perSecond: number
  /** From when each request was due, whenever it was sent. */
  readonly latency: Latency | null
  /** More was asked than this arm can do. */
  readonly overloaded: boolean
  /** The generator itself was late: these latencies are not the arm's alone. */
  readonly generatorLate: boolean
}

/** Medians over slices, null where unknown. Sizes are bytes, sums over processes and threads. */
export interface ServerResult {
  /** CPU cores kept busy. */
  readonly cores: number | null
  readonly pss: number | null
  readonly rss: number | null
  readonly processes: number | null
  /** The following are told by the Node programs themselves. */
  readonly threads: number | null
  readonly heapTotal: number | null
  readonly heapUsed: number | null
  readonly newSpace: number | null
  readonly oldSpace: number | null
  /** The share of the time in which the busiest event loop did not wait. */
  readonly utilisation: number | null
  /** How late a timer came at p99, in the thread where that was worst. Milliseconds. */
  readonly loopDelay: number | null
  /** Collecting garbage, as a share of one core. */
  readonly gc: number | null
}

export interface SliceResult {
  readonly round: number
  /** Of a fixed rate: its share of the baseline's capacity. Null in a closed loop. */
  readonly share: number | null
  readonly perSecond: number
  readonly perCpuSecond: number | null
  readonly p50: number | null
  readonly p99: number | null
  readonly steal: number
  /** Cores that were busy with neither the arm nor the lab. */
  readonly otherCores: number | null
  /** Of each tenth of a second: requests answered, and their latency at p99 (milliseconds); none in a compact result. */
  readonly series: readonly (readonly [done: number, p99: number])[]
  /** What the runtimes did meanwhile, four times a second; none in a compact result. */
  readonly runtime: readonly RuntimeMoment[]
}

export interface ComparisonResult {
  readonly baseline: string
  readonly arm: string
  readonly metric: Metric
  /** Of a latency: the rate as a share of the baseline's capacity. Null for throughput. */
  readonly share: number | null
  readonly ratio: number
  readonly low: number
  readonly high: number
  readonly confidence: number
  readonly rounds: number
  readonly verdict: Verdict
  /** True for what answers the question: the throughput that can be believed here, and the p99 at fixed rates. */
  readonly decides: boolean
}
