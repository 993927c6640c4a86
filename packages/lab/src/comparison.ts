import type { Cell, Timing } from './protocol/plan.ts'
import { defaultRules, judge, judgeAll, type Ratio, type Verdict } from './stats/verdict.ts'
import type { CellSummary } from './summary.ts'

/** Requests per second, requests per server CPU second, and latencies in milliseconds at a fixed rate. */
export type Metric = 'perSecond' | 'perCpuSecond' | 'p50' | 'p99'

export interface Comparison extends Ratio {
  readonly cell: string
  readonly baseline: string
  readonly metric: Metric
  /** Of a latency: the rate as a share of the baseline's capacity. */
  readonly share: number | null
  /** Its verdict is one of the answers of this run; the others are there to be looked at. */
  readonly decides: boolean
}

interface Question {
  readonly metric: Metric
  readonly share: number | null
  readonly decides: boolean
}

/**
 * Every valid cell against its baseline. What decides is corrected together, so that asking more does not make a false
 * answer more likely; what does not is corrected for each metric by itself.
 */
export function compare(summaries: readonly CellSummary[], timing: Timing, throughput: ThroughputMetric): Comparison[] {
  const asked = questions(timing, throughput)
  const deciding = asked.filter((question) => question.decides)
  const others = asked.filter((question) => !question.decides).map((question) => [question])
  return [deciding, ...others].flatMap((family) => judgeFamily(summaries, timing, family))
}

export type ThroughputMetric = 'perSecond' | 'perCpuSecond'

/**
 * Which throughput decides. A generator that shares its cores with the servers takes from whoever answers fastest, and
 * one that has no time to wait answers for itself; CPU seconds are each arm's own. One that has next to nothing to do, as
 * with requests that compute, takes nothing from anyone.
 */
export function throughputThatDecides(summaries: readonly CellSummary[], sharesCores: boolean): ThroughputMetric {
  const known = summaries.some(({ perCpuSecond }) => perCpuSecond !== undefined)
  const shares = sharesCores && summaries.some(({ generatorCores = 0 }) => generatorCores > weight)
  return known && (shares || summaries.some(({ saturated }) => saturated)) ? 'perCpuSecond' : 'perSecond'
}

/** Cores that a generator may take before it stands in the servers' way. */
const weight = 0.05

/** How far apart two copies of the same arm were: the largest such ratio of the session, at least 1. */
export function floorOf(summaries: readonly CellSummary[], metric: Metric, share: number | null = null): number {
  const ratios = summaries
    .filter(({ cell, valid }) => cell.control && valid)
    .map((control) => pairUp(control, baselineOf(control, summaries), { metric, share }))
    .filter((pairs) => pairs.length > 0)
    .map((pairs) => away(judge(pairs).ratio))
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
  const asked = family.flatMap((question) =>
    summaries
      .filter((summary) => isAsked(summary, summaries))
      .map((summary) => {
        const baseline = baselineOf(summary, summaries)!
        return { question, summary, baseline, pairs: pairUp(summary, baseline, question) }
      })
      .filter(({ pairs }) => pairs.length >= 2),
  )
  const rules = { ...defaultRules, matters: timing.matters, floor: 1 }
  const floors = asked.map(({ question }) => floorOf(summaries, question.metric, question.share))
  const judged = judgeAll(
    asked.map(({ pairs }) => pairs),
    rules,
    floors,
  )
  return asked.map(({ question, summary, baseline }, at) => ({
    ...(isLatency(question.metric) ? inverted(judged[at]!) : judged[at]!),
    verdict: verdictOf(judged[at]!.verdict, question, summary, baseline),
    cell: summary.cell.name,
    baseline: baseline.cell.name,
    ...question,
  }))
}

function isAsked({ cell, valid }: CellSummary, summaries: readonly CellSummary[]): boolean {
  return valid && !cell.control && cell.baseline !== undefined && find(summaries, cell.baseline)?.valid === true
}

/** What was measured is not what was asked: the generator's own limit, its own lateness, or two queues that only grew. */
function verdictOf(found: Verdict, { metric, share }: Question, arm: CellSummary, baseline: CellSummary): Verdict {
  if (metric === 'perSecond') return arm.saturated || baseline.saturated ? 'invalid' : found
  if (!isLatency(metric)) return found
  const [one, other] = [arm, baseline].map((summary) => summary.open.find((open) => open.share === share))
  if (one === undefined || other === undefined || one.late || other.late) return 'invalid'
  return one.overloaded && other.overloaded ? 'invalid' : found
}

/** [arm, baseline] of each round that has both, the better one larger. */
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

/** Judged as the better over the worse, told as the arm's over the baseline's: less latency is the faster arm. */
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

/** A ratio's distance from 1, as a ratio above 1. */
function away(ratio: number): number {
  return Number.isFinite(ratio) && ratio > 0 ? Math.max(ratio, 1 / ratio) : 1
}
