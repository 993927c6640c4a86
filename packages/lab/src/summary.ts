import type { Cell, Timing } from './protocol/plan.ts'
import type { CellRound, Round } from './protocol/session.ts'
import type { Slice } from './protocol/slice.ts'
import { defaultRules, judge, judgeAll, type Ratio, type Rules } from './stats/verdict.ts'

export type Metric = 'perSecond' | 'perCpuSecond'

export interface CellSummary {
  readonly cell: Cell
  readonly valid: boolean
  readonly invalidBecause: readonly string[]
  /** Medians over rounds. */
  readonly perSecond: number
  readonly perCpuSecond: number | undefined
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** CPU cores that the arm's processes kept busy. */
  readonly cores: number | undefined
  readonly pss: number | undefined
  readonly rss: number | undefined
  /** Unanswered two seconds after the end, or never written. */
  readonly unanswered: number
  readonly rounds: readonly RoundSummary[]
}

export interface RoundSummary {
  readonly perSecond: number
  readonly perCpuSecond: number | undefined
  readonly p99: number
}

export interface ComparisonSummary extends Ratio {
  readonly cell: string
  readonly baseline: string
  readonly metric: Metric
}

export function summarise(cells: readonly Cell[], rounds: readonly Round[]): CellSummary[] {
  return cells.map((cell) => {
    const found = rounds.map((round) => round.cells.get(cell.name)!)
    const slices = found.flatMap((each) => each.slices)
    const invalidBecause = faultsOf(found, slices)
    const each = found.filter((round) => round.slices.length > 0).map((round) => summariseRound(round.slices))
    const cpu = slices.map((slice) => cores(slice)).filter((value) => value !== undefined)
    return {
      cell,
      valid: invalidBecause.length === 0,
      invalidBecause,
      perSecond: median(each.map((round) => round.perSecond)),
      perCpuSecond: medianOf(each.map((round) => round.perCpuSecond)),
      p50: median(slices.map((slice) => slice.result.latency.p50)),
      p99: median(slices.map((slice) => slice.result.latency.p99)),
      max: Math.max(0, ...slices.map((slice) => slice.result.latency.max)),
      cores: medianOf(cpu),
      pss: medianOf(slices.map((slice) => slice.memory?.pss)),
      rss: medianOf(slices.map((slice) => slice.memory?.rss)),
      unanswered: slices.reduce((sum, slice) => sum + slice.result.unfinished + slice.result.unsent, 0),
      rounds: each,
    }
  })
}

/** Every valid cell against its baseline, by one metric, corrected together; the control's ratio is the floor. */
export function compare(summaries: readonly CellSummary[], metric: Metric, timing: Timing): ComparisonSummary[] {
  const byName = new Map(summaries.map((summary) => [summary.cell.name, summary]))
  const asked = summaries.filter(
    ({ cell, valid }) => valid && cell.baseline !== undefined && byName.get(cell.baseline)?.valid,
  )
  const pairs = (summary: CellSummary) => pairUp(summary, byName.get(summary.cell.baseline!)!, metric)
  const others = asked.filter((summary) => !summary.cell.control && pairs(summary).length >= 2)
  const rules: Rules = { ...defaultRules, matters: timing.matters, floor: floorOf(summaries, metric) }
  const judged = judgeAll(others.map(pairs), rules)
  return others.map(({ cell }, at) => ({ ...judged[at]!, cell: cell.name, baseline: cell.baseline!, metric }))
}

/** How far apart two copies of the same arm were: the largest such ratio of the session, at least 1. */
export function floorOf(summaries: readonly CellSummary[], metric: Metric): number {
  const byName = new Map(summaries.map((summary) => [summary.cell.name, summary]))
  const ratios = summaries
    .filter(({ cell, valid }) => cell.control && valid)
    .map((control) => pairUp(control, byName.get(control.cell.baseline!)!, metric))
    .filter((pairs) => pairs.length > 0)
    .map((pairs) => away(judge(pairs).ratio))
  return Math.max(1, ...ratios)
}

/** A ratio's distance from 1, as a ratio above 1. */
function away(ratio: number): number {
  return Number.isFinite(ratio) ? Math.max(ratio, 1 / ratio) : 1
}

function pairUp(arm: CellSummary, baseline: CellSummary, metric: Metric): (readonly [number, number])[] {
  const count = Math.min(arm.rounds.length, baseline.rounds.length)
  return Array.from(
    { length: count },
    (_, at) => [arm.rounds[at]![metric] ?? 0, baseline.rounds[at]![metric] ?? 0] as const,
  ).filter(([one, other]) => one > 0 && other > 0)
}

function summariseRound(slices: readonly Slice[]): RoundSummary {
  const sum = (pick: (slice: Slice) => number) => slices.reduce((total, slice) => total + pick(slice), 0)
  const cpu = sum((slice) => slice.serverCpuSeconds ?? 0)
  return {
    perSecond: sum((slice) => slice.result.done) / sum((slice) => slice.result.seconds),
    perCpuSecond: cpu > 0 ? sum((slice) => slice.answered) / cpu : undefined,
    p99: median(slices.map((slice) => slice.result.latency.p99)),
  }
}

/** Why a cell does not count: any wrong or failed answer, a start that failed, a machine that took too much. */
function faultsOf(found: readonly CellRound[], slices: readonly Slice[]): string[] {
  const faults = new Set<string>()
  for (const { failure } of found) if (failure !== undefined) faults.add(failure)
  for (const { result } of slices) {
    for (const [kind, count] of Object.entries(result.failures))
      faults.add(`${kind} × ${count}: ${result.firstProblem}`)
    if (result.connectFailures > 0) faults.add(`${result.connectFailures} connections failed: ${result.firstProblem}`)
  }
  // A probe may wait for as long as it takes, which is what it measures; but what comes must be right.
  for (const { probe } of slices) {
    const { timeout: _, ...wrong } = probe?.result.failures ?? {}
    for (const [kind, count] of Object.entries(wrong))
      faults.add(`probe, ${kind} × ${count}: ${probe?.result.firstProblem}`)
  }
  const lost = found.reduce((sum, each) => sum + each.lost, 0)
  if (lost > 0.3 * (lost + slices.length))
    faults.add(`${lost} of ${lost + slices.length} slices were lost to steal or throttling`)
  return [...faults]
}

function cores(slice: Slice): number | undefined {
  const last = slice.ticks.at(-1)
  return slice.serverCpuSeconds === undefined || last === undefined ? undefined : slice.serverCpuSeconds / last.at
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  if (sorted.length === 0) return Number.NaN
  return Number.isInteger(middle) ? (sorted[middle - 1]! + sorted[middle]!) / 2 : sorted[Math.floor(middle)]!
}

function medianOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : median(known)
}
