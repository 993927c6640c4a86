import { readFile } from 'node:fs/promises'
import type { Metric } from './comparison.ts'
import type { ArmResult, ComparisonResult, Result } from './result.ts'
import { defaultRules, difference, estimate, judgeEstimates, type Estimate, type Ratio } from './stats/verdict.ts'

/** One arm, then and now. */
export interface Change extends Omit<Ratio, 'rounds'> {
  readonly arm: string
  readonly metric: Metric
  readonly share: number | null
  /** What was compared: the arm's ratio to its baseline in each run, or what it did by itself. */
  readonly against: 'baseline' | 'itself'
}

export interface Changes {
  readonly changes: readonly Change[]
  /** Sentences on what could not be compared, and why. */
  readonly notes: readonly string[]
  /** Arms that counted before and do not now: missing, or invalid for this reason. */
  readonly broken: readonly { readonly arm: string; readonly because: string }[]
}

export async function readResult(file: string): Promise<Result> {
  const text = await readFile(file, 'utf8')
  const result = parse(file, text)
  if (result.version !== 1 || !Array.isArray(result.arms)) throw new Error(`${file} is no result of busbar bench`)
  return result
}

function parse(file: string, text: string): Result {
  try {
    return JSON.parse(text) as Result
  } catch (error) {
    throw new Error(`${file} is not JSON: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Two runs of a scenario. An arm that has a baseline is compared by its ratio to it, which another hour or another machine
 * leaves alone; a baseline by what it does itself, on the same machine only.
 */
export function compareResults(before: Result, after: Result): Changes {
  if (before.scenario !== after.scenario)
    throw new Error(
      `the first is of ${before.scenario}, the second of ${after.scenario}: only the same can be compared`,
    )
  const pairs = after.arms.flatMap((arm) => {
    const earlier = before.arms.find(({ name, control }) => name === arm.name && !control)
    return earlier === undefined || arm.control ? [] : [{ earlier, arm }]
  })
  const valid = pairs.filter(({ earlier, arm }) => earlier.valid && arm.valid)
  const same = sameMachine(before, after)
  const asked = valid.flatMap(({ arm }) => questionsOn(arm.name, before, after, same))
  const rules = { ...defaultRules, matters: Math.max(before.smallestDifference, after.smallestDifference) }
  const judged = judgeEstimates(
    asked.map(({ change }) => change),
    rules,
    asked.map(({ floor }) => floor),
  )
  return {
    changes: asked.map((each, at) => told(each, judged[at]!)),
    notes: notesOn(before, after, same),
    broken: before.arms.filter(({ control, valid }) => valid && !control).flatMap(({ name }) => broken(name, after)),
  }
}

/** Beyond noise: an interval that excludes "as fast as before", or an arm that no longer counts or is missing. */
export function isRegression({ changes, broken }: Changes): boolean {
  return broken.length > 0 || changes.some(({ verdict }) => verdict === 'slower')
}

function broken(name: string, { arms }: Result): Changes['broken'] {
  const now = arms.find((arm) => arm.name === name && !arm.control)
  if (now === undefined) return [{ arm: name, because: 'it is missing in the second' }]
  return now.valid ? [] : [{ arm: name, because: now.invalidBecause.join('; ') }]
}

interface Asked extends Pick<Change, 'arm' | 'metric' | 'share' | 'against'> {
  readonly change: Estimate
  readonly floor: number
}

/** The metric by which the later run decided; where the earlier has no such figures, the one that both have. */
function questionsOn(name: string, before: Result, after: Result, same: boolean): Asked[] {
  const decided = after.comparisons.filter(({ arm, decides }) => arm === name && decides)
  if (decided.length === 0) return same ? byItself(name, before, after) : []
  return decided.flatMap((comparison) => {
    const [then, now] = [before, after].map((result) => ratios(result, comparison))
    if (then === undefined || now === undefined || then.length < 2 || now.length < 2) return []
    return [
      {
        arm: name,
        metric: comparison.metric,
        share: comparison.share,
        against: 'baseline' as const,
        change: difference(estimate(now), estimate(then)),
        floor: floorOf(before, after, comparison.metric),
      },
    ]
  })
}

function byItself(name: string, before: Result, after: Result): Asked[] {
  const metric = [before, after].every((result) => armOf(result, name).throughput.perCpuSecond !== null)
    ? 'perCpuSecond'
    : 'perSecond'
  const [then, now] = [before, after].map((result) => [...perRound(armOf(result, name), metric, null).values()])
  if (then!.length < 2 || now!.length < 2) return []
  const change = difference(estimate(now!), estimate(then!))
  return [{ arm: name, metric, share: null, against: 'itself', change, floor: floorOf(before, after, metric) }]
}

/** Logarithms of the arm over its baseline, round by round; better is larger. */
function ratios(result: Result, { arm, baseline, metric, share }: ComparisonResult): number[] | undefined {
  const [one, other] = [arm, baseline].map((name) => result.arms.find((each) => each.name === name))
  if (one === undefined || other === undefined || !other.valid) return undefined
  const theirs = perRound(other, metric, share)
  const found = [...perRound(one, metric, share)].flatMap(([round, value]) =>
    theirs.has(round) ? [value - theirs.get(round)!] : [],
  )
  return metric === 'p99' || metric === 'p50' ? found.map((value) => -value) : found
}

/** The logarithm of each round's mean. */
function perRound(arm: ArmResult, metric: Metric, share: number | null): Map<number, number> {
  const known = arm.slices.filter((slice) => slice.share === share && (slice[metric] ?? 0) > 0)
  const rounds = Map.groupBy(known, ({ round }) => round)
  return new Map(
    [...rounds].map(([round, slices]) => [
      round,
      slices.reduce((sum, slice) => sum + Math.log(slice[metric]!), 0) / slices.length,
    ]),
  )
}

function told({ arm, metric, share, against }: Asked, judged: Ratio): Change {
  const { ratio, low, high, confidence, verdict } = judged
  const isLatency = metric === 'p99' || metric === 'p50'
  // Judged as better over worse, told as milliseconds now over milliseconds then.
  const range = isLatency ? { ratio: 1 / ratio, low: 1 / high, high: 1 / low } : { ratio, low, high }
  return { arm, metric, share, against, ...range, confidence, verdict }
}

/** What the noisier of the two sessions could not tell apart. Latencies have no such figure in a result. */
function floorOf(before: Result, after: Result, metric: Metric): number {
  if (metric === 'p50' || metric === 'p99') return 1
  return Math.max(before.floor[metric], after.floor[metric])
}

function armOf(result: Result, name: string): ArmResult {
  return result.arms.find((arm) => arm.name === name)!
}

function sameMachine({ machine: one }: Result, { machine: other }: Result): boolean {
  return one.cpu === other.cpu && one.cores === other.cores && one.memory === other.memory
}

function notesOn(before: Result, after: Result, same: boolean): string[] {
  const names = (result: Result) => result.arms.filter(({ control }) => !control).map(({ name }) => name)
  const [then, now] = [names(before), names(after)]
  const fresh = now.filter((name) => !then.includes(name))
  // One that counted and is gone is a regression and is told as such.
  const gone = before.arms.filter(({ name, valid, control }) => !valid && !control && !now.includes(name))
  const { machine: one } = before
  const { machine: other } = after
  return [
    ...(same ? [] : ['These are two machines, so that only ratios within each run are compared.']),
    ...(one.node === other.node ? [] : [`Node ${one.node} then, ${other.node} now.`]),
    ...(gone.length > 0 ? [`Only in the first: ${gone.map(({ name }) => name).join(', ')}.`] : []),
    ...(fresh.length > 0 ? [`Only in the second: ${fresh.join(', ')}.`] : []),
    ...invalidBefore(before, now),
  ]
}

function invalidBefore(before: Result, now: readonly string[]): string[] {
  const names = before.arms.filter(({ valid, name }) => !valid && now.includes(name)).map(({ name }) => name)
  return names.length === 0 ? [] : [`Did not count in the first: ${names.join(', ')}.`]
}
