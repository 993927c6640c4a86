import { compare, noiseFloor, decidingThroughput } from '../stats/compare-arms.ts'
import type { Engine } from '../engine/load.ts'
import type { Machine } from '../machine/describe.ts'
import type { RuntimeUsage } from '../machine/samples.ts'
import type { Timing } from '../protocol/plan.ts'
import type { Round } from '../protocol/round.ts'
import type { Slice } from '../protocol/slice.ts'
import type { ArmResult, ComparisonResult, OpenResult, Result, ServerResult, SliceResult } from '../result.ts'
import { merge } from '../stats/histogram.ts'
import { medianOf, type CellSummary, type OpenSummary } from '../stats/summary.ts'

export interface Measured {
  readonly scenario: string
  readonly question: string
  readonly unit: Result['unit']
  readonly versions: Result['versions']
  readonly engine: Engine
  /** The load generator and the servers share processors. */
  readonly sharesCores: boolean
  readonly seed: number
  readonly command: string
  readonly startedAt: Date
  readonly seconds: number
  readonly machine: Machine
  readonly timing: Timing
  readonly rounds: readonly Round[]
  readonly interrupted: boolean
  readonly summaries: readonly CellSummary[]
  readonly notes: readonly string[]
}

/** Converts the measurements of a session to the result from which all reports are made. */
export function buildResult(found: Measured): Result {
  const { summaries, rounds, timing } = found
  return {
    version: 1,
    scenario: found.scenario,
    question: found.question,
    unit: found.unit,
    versions: found.versions,
    generator: found.engine.kind,
    seed: found.seed,
    command: found.command,
    startedAt: found.startedAt.toISOString(),
    seconds: found.seconds,
    rounds: rounds.length,
    stopped:
      rounds.length < timing.rounds ? { by: found.interrupted ? 'hand' : 'budget', wanted: timing.rounds } : null,
    machine: found.machine,
    floor: { perSecond: noiseFloor(summaries, 'perSecond'), perCpuSecond: noiseFloor(summaries, 'perCpuSecond') },
    smallestDifference: timing.matters,
    notes: found.notes,
    arms: summaries.map((summary) => toArm(summary, rounds)),
    comparisons: comparisons(found),
  }
}

function comparisons({ summaries, timing, sharesCores }: Measured): ComparisonResult[] {
  const decides = decidingThroughput(summaries, sharesCores)
  return compare(summaries, timing, decides).map(({ cell, low, high, ...rest }) => ({
    baseline: rest.baseline,
    arm: cell,
    metric: rest.metric,
    share: rest.share,
    ratio: rest.ratio,
    // JSON has no infinity, and an interval of two rounds may be infinite.
    low: Math.max(low, 1e-9),
    high: Math.min(high, 1e9),
    confidence: rest.confidence,
    freedom: rest.freedom,
    rounds: rest.rounds,
    verdict: rest.verdict,
    decides: rest.decides,
  }))
}

function toArm(summary: CellSummary, rounds: readonly Round[]): ArmResult {
  const { cell, slices } = summary
  const results = slices.map(({ result }) => result)
  const seconds = sum(results.map((result) => result.seconds))
  return {
    name: cell.name,
    title: cell.control ? `${cell.arm.title} (again, for the noise)` : cell.arm.title,
    control: cell.control,
    valid: summary.valid,
    invalidBecause: summary.invalidBecause,
    coldRounds: summary.cold.few + summary.cold.unsteady,
    parameters: {
      workers: cell.workers,
      connections: cell.work.connections,
      pipelining: cell.work.pipelining ?? 1,
      rate: cell.work.rate ?? null,
    },
    throughput: {
      perSecond: known(summary.perSecond),
      perCpuSecond: known(summary.perCpuSecond),
      bytesPerSecond: seconds > 0 ? sum(results.map((result) => result.bytes)) / seconds : null,
      saturated: summary.saturated,
    },
    latency: merge(results.map((result) => result.latency)),
    open: summary.open.map(toOpen),
    probe: merge(slices.flatMap((slice) => slice.probe?.result.latency ?? [])),
    status: addUp(results.map((result) => result.statuses)),
    failures: addUp(results.map((result) => result.failures)),
    unanswered: summary.unanswered,
    server: toServer(summary),
    slices: rounds.flatMap((round, at) => {
      const { slices, open } = round.cells.get(cell.name)!
      return [
        ...slices.map((slice) => toSlice(at + 1, slice, null)),
        ...open.map(({ slice, share }) => toSlice(at + 1, slice, share)),
      ]
    }),
  }
}

function toOpen({ share, rate, perSecond, latency, overloaded, late }: OpenSummary): OpenResult {
  return { share, rate, perSecond, latency, overloaded, generatorLate: late }
}

function toServer({ cores, slices }: CellSummary): ServerResult {
  const memory = (key: 'pss' | 'rss' | 'processes') => known(medianOf(slices.map((slice) => slice.memory?.[key])))
  const runtime = (key: Exclude<keyof RuntimeUsage, 'timeline'>) =>
    known(medianOf(slices.map((slice) => slice.runtime?.[key])))
  return {
    cores: known(cores),
    pss: memory('pss'),
    rss: memory('rss'),
    processes: memory('processes'),
    threads: runtime('threads'),
    heapTotal: runtime('heapTotal'),
    heapUsed: runtime('heapUsed'),
    newSpace: runtime('newSpace'),
    oldSpace: runtime('oldSpace'),
    utilisation: runtime('utilisation'),
    loopDelay: runtime('delayP99'),
    gc: runtime('gc'),
  }
}

function toSlice(round: number, slice: Slice, share: number | null): SliceResult {
  const cpu = slice.serverCpuSeconds
  const { latency, perSecond } = slice.result
  const some = latency.count > 0
  return {
    round,
    share,
    perSecond,
    perCpuSecond: cpu === undefined || cpu === 0 ? null : slice.answered / cpu,
    p50: some ? latency.p50 : null,
    p99: some ? latency.p99 : null,
    steal: slice.disturbance.steal,
    otherCores: known(slice.otherCores),
    series: slice.ticks.map((tick) => [tick.done, tick.p99] as const),
    // The samples of pulses are those of the warm-up.
    runtime: slice.pulses === undefined ? (slice.runtime?.timeline ?? []) : [],
  }
}

function addUp(records: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {}
  for (const record of records)
    for (const [key, count] of Object.entries(record)) total[key] = (total[key] ?? 0) + count
  return total
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** JSON has no NaN. */
function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value
}
