/** What a run found, as `--json` writes it; `schema.json` describes the same, and a test holds the two together. */
import type { Machine } from './machine/describe.ts'
import type { Verdict } from './stats/verdict.ts'

export interface Result {
  readonly version: 1
  readonly scenario: string
  readonly question: string
  /** What `throughput` counts: requests, or whole runs of a job. */
  readonly unit: 'request' | 'run'
  /** Of the peers that took part, by package, and of `go`. */
  readonly versions: Readonly<Record<string, string>>
  /** Repeats the order of the rounds and the arrivals. */
  readonly seed: number
  /** The command that gave this. */
  readonly command: string
  readonly startedAt: string
  readonly seconds: number
  readonly rounds: number
  /** Ended by hand or by the budget before the rounds that were asked for. */
  readonly partial: boolean
  readonly machine: Machine
  /** Ratio of two identical arms in this session, above 1: no smaller difference is claimed. */
  readonly floor: { readonly perSecond: number; readonly perCpuSecond: number }
  readonly smallestDifference: number
  /** Why latency has no verdict, or other things to know before reading on. */
  readonly notes: readonly string[]
  readonly arms: readonly ArmResult[]
  readonly comparisons: readonly ComparisonResult[]
}

export interface ArmResult {
  readonly name: string
  readonly title: string
  readonly valid: boolean
  readonly invalidBecause: readonly string[]
  readonly parameters: {
    readonly workers: number
    readonly connections: number
    readonly pipelining: number
    readonly rate: number | null
  }
  /** Medians over rounds; requests. */
  readonly throughput: {
    readonly perSecond: number
    readonly perCpuSecond: number | null
    readonly bytesPerSecond: number
  }
  /** Milliseconds, over all slices; what failed or never came is counted with the time it had waited. */
  readonly latency: Latency | null
  /** Of what was asked at a fixed rate beside the load; null where the scenario has no probe. */
  readonly probe: Latency | null
  readonly status: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<string, number>>
  readonly unanswered: number
  readonly server: ServerResult
  /** One entry per slice, in the order they were run. */
  readonly slices: readonly SliceResult[]
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
  /** [upper edge, count]. */
  readonly buckets: readonly (readonly [number, number])[]
}

/** Bytes, and CPU cores kept busy. */
export interface ServerResult {
  readonly cores: number | null
  readonly pss: number | null
  readonly rss: number | null
  readonly processes: number | null
}

export interface SliceResult {
  readonly round: number
  readonly perSecond: number
  readonly perCpuSecond: number | null
  readonly p50: number
  readonly p99: number
  readonly steal: number
  /** Requests answered in each tenth of a second. */
  readonly series: readonly number[]
}

export interface ComparisonResult {
  readonly baseline: string
  readonly arm: string
  readonly metric: 'perSecond' | 'perCpuSecond'
  readonly ratio: number
  readonly low: number
  readonly high: number
  readonly confidence: number
  readonly verdict: Verdict
  /** True where this metric decides: by CPU second where generator and servers share cores. */
  readonly decides: boolean
}
