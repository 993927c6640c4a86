import type { Disturbance } from './machine/disturbance.ts'
import type { Machine } from './machine/describe.ts'
import type { Timing } from './protocol/plan.ts'
import type { Round } from './protocol/session.ts'
import type { Slice } from './protocol/slice.ts'
import type { ArmResult, ComparisonResult, Result, SliceResult } from './result.ts'
import { merge } from './stats/histogram.ts'
import { compare, floorOf, type CellSummary, type Metric } from './summary.ts'

export interface Found {
  readonly scenario: string
  readonly question: string
  readonly unit: Result['unit']
  readonly versions: Result['versions']
  readonly seed: number
  readonly command: string
  readonly startedAt: Date
  readonly seconds: number
  readonly machine: Machine
  readonly timing: Timing
  readonly rounds: readonly Round[]
  readonly summaries: readonly CellSummary[]
  readonly notes: readonly string[]
}

/** Puts what a session found into the form that every report is made from. */
export function assemble(found: Found): Result {
  const { summaries, rounds, timing } = found
  return {
    version: 1,
    scenario: found.scenario,
    question: found.question,
    unit: found.unit,
    versions: found.versions,
    seed: found.seed,
    command: found.command,
    startedAt: found.startedAt.toISOString(),
    seconds: found.seconds,
    rounds: rounds.length,
    partial: rounds.length < timing.rounds,
    machine: found.machine,
    floor: { perSecond: floorOf(summaries, 'perSecond'), perCpuSecond: floorOf(summaries, 'perCpuSecond') },
    smallestDifference: timing.matters,
    notes: found.notes,
    arms: summaries.map((summary) => toArm(summary, rounds)),
    comparisons: (['perSecond', 'perCpuSecond'] as const).flatMap((metric) => comparisons(found, metric)),
  }
}

function comparisons({ summaries, timing, machine }: Found, metric: Metric): ComparisonResult[] {
  // A generator that shares its cores with the servers takes from whoever answers fastest; CPU seconds are each one's own.
  const decides = sharesCores(machine) ? 'perCpuSecond' : 'perSecond'
  return compare(summaries, metric, timing).map((each) => ({
    baseline: each.baseline,
    arm: each.cell,
    metric,
    ratio: each.ratio,
    low: each.low,
    high: each.high,
    confidence: each.confidence,
    verdict: each.verdict,
    decides: metric === decides,
  }))
}

/** Below four cores the generator's own core is missing to the servers. */
function sharesCores(machine: Machine): boolean {
  return machine.cores < 4 && machine.platform.startsWith('linux')
}

function toArm(summary: CellSummary, rounds: readonly Round[]): ArmResult {
  const { cell } = summary
  const slices = rounds.flatMap((round, number) =>
    (round.cells.get(cell.name)?.slices ?? []).map((slice) => ({ number: number + 1, slice })),
  )
  const results = slices.map(({ slice }) => slice.result)
  return {
    name: cell.name,
    title: cell.control ? `${cell.arm.title} (again, for the noise)` : cell.arm.title,
    valid: summary.valid,
    invalidBecause: summary.invalidBecause,
    parameters: {
      workers: cell.workers,
      connections: cell.work.connections,
      pipelining: cell.work.pipelining ?? 1,
      rate: cell.work.rate ?? null,
    },
    throughput: {
      perSecond: summary.perSecond,
      perCpuSecond: summary.perCpuSecond ?? null,
      bytesPerSecond: sum(results.map((result) => result.bytes)) / sum(results.map((result) => result.seconds)),
    },
    latency: merge(results.map((result) => result.latency)),
    probe: merge(slices.flatMap(({ slice }) => slice.probe?.result.latency ?? [])),
    status: addUp(results.map((result) => result.statuses)),
    failures: addUp(results.map((result) => result.failures)),
    unanswered: summary.unanswered,
    server: {
      cores: summary.cores ?? null,
      pss: summary.pss ?? null,
      rss: summary.rss ?? null,
      processes: slices.at(-1)?.slice.memory?.processes ?? null,
    },
    slices: slices.map(({ number, slice }) => toSlice(number, slice, slice.disturbance)),
  }
}

function toSlice(round: number, slice: Slice, { steal }: Disturbance): SliceResult {
  const cpu = slice.serverCpuSeconds
  return {
    round,
    perSecond: slice.result.perSecond,
    perCpuSecond: cpu === undefined || cpu === 0 ? null : slice.answered / cpu,
    p50: slice.result.latency.p50,
    p99: slice.result.latency.p99,
    steal,
    series: slice.ticks.map((tick) => tick.done),
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
