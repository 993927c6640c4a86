import type { Cell, Timing } from '../protocol/plan.ts'
import type { PulsePairs } from './pulse-pairs.ts'
import { defaultRules, judge, judgeAll, type Ratio, type Verdict } from './verdict.ts'
import type { CellSummary } from './summary.ts'

/**
 * Requests per second, requests per server CPU second, and latencies in milliseconds at a fixed
 * rate.
 */
export type Metric = 'perSecond' | 'perCpuSecond' | 'p50' | 'p99'

export interface Comparison extends Ratio {
  readonly cell: string
  readonly baseline: string
  readonly metric: Metric
  /** For a latency: the rate as a share of the baseline's capacity. */
  readonly share: number | null
  /** True if its verdict is an answer of the run. Others are only shown. */
  readonly decides: boolean
}

interface Question {
  readonly metric: Metric
  readonly share: number | null
  readonly decides: boolean
}

/**
 * Compares every valid cell with its baseline. Comparisons that decide are corrected together, so
 * that more of them do not make a false verdict more likely. The others are corrected per metric.
 */
export function compare(summaries: readonly CellSummary[], timing: Timing, throughput: ThroughputMetric): Comparison[] {
  const comparisons = questions(timing, throughput)
  const deciding = comparisons.filter((question) => question.decides)
  const others = comparisons.filter((question) => !question.decides).map((question) => [question])
  return [deciding, ...others].flatMap((family) => judgeFamily(summaries, timing, family))
}

export type ThroughputMetric = 'perSecond' | 'perCpuSecond'

/**
 * The throughput that decides. Requests per second are misleading if the load generator is
 * saturated, or if it takes CPU time from the servers, since it takes most from the fastest. Then
 * requests per server CPU second decide.
 */
export function decidingThroughput(summaries: readonly CellSummary[], sharesCores: boolean): ThroughputMetric {
  const known = summaries.some(({ perCpuSecond }) => perCpuSecond !== undefined)
  const shares = sharesCores && summaries.some(({ generatorCores = 0 }) => generatorCores > heavyGenerator)
  return known && (shares || summaries.some(({ saturated }) => saturated)) ? 'perCpuSecond' : 'perSecond'
}

/** Cores that the generator may take before it slows the servers. */
const heavyGenerator = 0.05

/** The largest ratio between two copies of the same arm in the session, at least 1. */
export function noiseFloor(summaries: readonly CellSummary[], metric: Metric, share: number | null = null): number {
  const ratios = summaries
    .filter(({ cell, valid }) => cell.control && valid)
    .map((control) => pairUp(control, baselineOf(control, summaries), { metric, share }))
    .filter((pairs) => pairs.length > 0)
    .map((pairs) => aboveOne(judge(pairs).ratio))
  return Math.max(1, ...ratios)
}

function questions({ openShares }: Timing, throughput: ThroughputMetric): Question[] {
  const throughputs = (['perSecond', 'perCpuSecond'] as const).map((metric) => ({
    metric,
    share: null,
    decides: metric === throughput,
  }))
  const latencies = openShares.flatMap((share) => [
    { metric: 'p99' as const, share, decides: true },
    { metric: 'p50' as const, share, decides: false },
  ])
  return [...throughputs, ...latencies]
}

function judgeFamily(summaries: readonly CellSummary[], timing: Timing, family: readonly Question[]): Comparison[] {
  const comparisons = family.flatMap((question) =>
    summaries
      .filter((summary) => isCompared(summary, summaries))
      .map((summary) => {
        const baseline = baselineOf(summary, summaries)!
        return { question, summary, baseline, pairs: pairUp(summary, baseline, question) }
      })
      .filter(({ pairs }) => pairs.length >= 2),
  )
  const rules = { ...defaultRules, matters: timing.matters, floor: 1 }
  const floors = comparisons.map(({ question }) => noiseFloor(summaries, question.metric, question.share))
  const judged = judgeAll(
    comparisons.map(({ pairs }) => pairs),
    rules,
    floors,
    comparisons.map(({ question, summary, baseline }) => pulsePairsOf(summary, baseline, question.metric)),
  )
  return comparisons.map(({ question, summary, baseline }, at) => ({
    ...(isLatency(question.metric) ? inverted(judged[at]!) : judged[at]!),
    verdict: verdictOf(judged[at]!.verdict, question, summary, baseline),
    cell: summary.cell.name,
    baseline: baseline.cell.name,
    ...question,
  }))
}

function isCompared({ cell, valid }: CellSummary, summaries: readonly CellSummary[]): boolean {
  return valid && !cell.control && cell.baseline !== undefined && find(summaries, cell.baseline)?.valid === true
}

/** `invalid` if the generator was saturated or late, or if both arms were overloaded. */
function verdictOf(found: Verdict, { metric, share }: Question, arm: CellSummary, baseline: CellSummary): Verdict {
  if (metric === 'perSecond') return arm.saturated || baseline.saturated ? 'invalid' : found
  if (!isLatency(metric)) return found
  const [one, other] = [arm, baseline].map((summary) => summary.open.find((open) => open.share === share))
  if (one === undefined || other === undefined || one.late || other.late) return 'invalid'
  return one.overloaded && other.overloaded ? 'invalid' : found
}

/** [arm, baseline] of each round that has both. Latencies are swapped, so that larger is better. */
function pairUp(
  arm: CellSummary,
  baseline: CellSummary | undefined,
  { metric, share }: Pick<Question, 'metric' | 'share'>,
): (readonly [number, number])[] {
  if (baseline === undefined) return []
  const values = (summary: CellSummary) =>
    isLatency(metric)
      ? (summary.open.find((open) => open.share === share)?.rounds ?? []).map((round) => round?.[metric])
      : summary.rounds.map((round) => round?.[metric])
  const [own, theirs] = [values(arm), values(baseline)]
  return own
    .map((value, round) => [value ?? 0, theirs[round] ?? 0] as const)
    .filter(([one, other]) => one > 0 && other > 0)
    .map(([one, other]) => (isLatency(metric) ? ([other, one] as const) : ([one, other] as const)))
}

/** Pulses of the same turn. Undefined for what was not measured in pulses. */
function pulsePairsOf(arm: CellSummary, baseline: CellSummary, metric: Metric): PulsePairs | undefined {
  if (isLatency(metric)) return undefined
  const rounds = arm.rounds.map((round, index) => {
    const theirs = baseline.rounds[index]?.pulses ?? []
    return (round?.pulses ?? []).flatMap((pulse, turn) => {
      const log = Math.log((pulse[metric] ?? 0) / (theirs[turn]?.[metric] ?? 0))
      return Number.isFinite(log) ? [log] : []
    })
  })
  const found = rounds.filter((round) => round.length > 1)
  return found.length === 0 ? undefined : found
}

/** Latencies are judged as baseline over arm, and reported as arm over baseline. */
function inverted<T extends Ratio>(judged: T): T {
  return { ...judged, ratio: 1 / judged.ratio, low: 1 / judged.high, high: 1 / judged.low }
}

export function isLatency(metric: Metric): metric is 'p50' | 'p99' {
  return metric === 'p50' || metric === 'p99'
}

function baselineOf({ cell }: { cell: Cell }, summaries: readonly CellSummary[]): CellSummary | undefined {
  return cell.baseline === undefined ? undefined : find(summaries, cell.baseline)
}

function find(summaries: readonly CellSummary[], name: string): CellSummary | undefined {
  return summaries.find(({ cell }) => cell.name === name)
}

/** The ratio or its inverse, whichever is above 1. */
function aboveOne(ratio: number): number {
  return Number.isFinite(ratio) && ratio > 0 ? Math.max(ratio, 1 / ratio) : 1
}
