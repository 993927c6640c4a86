import { readFile } from 'node:fs/promises'
import type { Metric } from './compare-arms.ts'
import type { ArmResult, ComparisonResult, Result } from '../result.ts'
import { defaultRules, difference, estimate, judgeEstimates, type Ratio } from './verdict.ts'
import type { Estimate } from './student.ts'

/** One arm in two runs. */
export interface Change extends Omit<Ratio, 'rounds' | 'freedom'> {
  readonly arm: string
  readonly metric: Metric
  readonly share: number | null
  /** `baseline`: its ratios to the baseline were compared. `itself`: its absolute values. */
  readonly against: 'baseline' | 'itself'
}

export interface Changes {
  readonly changes: readonly Change[]
  /** Sentences about what could not be compared, and why. */
  readonly notes: readonly string[]
  /** Arms that were valid in the first run and are missing or invalid in the second. */
  readonly broken: readonly { readonly arm: string; readonly because: string }[]
}

export async function readResult(file: string): Promise<Result> {
  const text = await readFile(file, 'utf8')
  const result = parse(file, text)
  if (result.version !== 1 || !Array.isArray(result.arms)) throw new Error(`${file} is not a result of busbar bench`)
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
 * Compares two runs of a scenario. An arm with a baseline is compared by its ratio to it, which
 * hardly depends on the machine. A baseline is compared by its absolute values, on the same machine
 * only.
 */
export function compareResults(before: Result, after: Result): Changes {
  if (before.scenario !== after.scenario)
    throw new Error(`the scenarios differ: ${before.scenario} in the first file, ${after.scenario} in the second`)
  const pairs = after.arms.flatMap((arm) => {
    const earlier = before.arms.find(({ name, control }) => name === arm.name && !control)
    return earlier === undefined || arm.control ? [] : [{ earlier, arm }]
  })
  const valid = pairs.filter(({ earlier, arm }) => earlier.valid && arm.valid)
  const same = sameMachine(before, after)
  const questions = valid.flatMap(({ arm }) => questionsOn(arm.name, before, after, same))
  const rules = { ...defaultRules, matters: Math.max(before.smallestDifference, after.smallestDifference) }
  const judged = judgeEstimates(
    questions.map(({ change }) => change),
    rules,
    questions.map(({ floor }) => floor),
  )
  return {
    changes: questions.map((each, at) => toChange(each, judged[at]!)),
    notes: notesOn(before, after, same),
    broken: before.arms.filter(({ control, valid }) => valid && !control).flatMap(({ name }) => broken(name, after)),
  }
}

/** True if an arm is slower beyond noise, or is invalid or missing in the second run. */
export function isRegression({ changes, broken }: Changes): boolean {
  return broken.length > 0 || changes.some(({ verdict }) => verdict === 'slower')
}

function broken(name: string, { arms }: Result): Changes['broken'] {
  const now = arms.find((arm) => arm.name === name && !arm.control)
  if (now === undefined) return [{ arm: name, because: 'it is missing in the second run' }]
  return now.valid ? [] : [{ arm: name, because: now.invalidBecause.join('; ') }]
}

interface Question extends Pick<Change, 'arm' | 'metric' | 'share' | 'against'> {
  readonly change: Estimate
  readonly floor: number
}

/** The metrics that decide in the later run, if both runs have values for them. */
function questionsOn(name: string, before: Result, after: Result, same: boolean): Question[] {
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
        floor: noiseFloor(before, after, comparison.metric),
      },
    ]
  })
}

function byItself(name: string, before: Result, after: Result): Question[] {
  const metric = [before, after].every((result) => armOf(result, name).throughput.perCpuSecond !== null)
    ? 'perCpuSecond'
    : 'perSecond'
  const [then, now] = [before, after].map((result) => [...perRound(armOf(result, name), metric, null).values()])
  if (then!.length < 2 || now!.length < 2) return []
  const change = difference(estimate(now!), estimate(then!))
  return [{ arm: name, metric, share: null, against: 'itself', change, floor: noiseFloor(before, after, metric) }]
}

/** Logarithms of the ratio to the baseline, per round. Larger is better. */
function ratios(result: Result, { arm, baseline, metric, share }: ComparisonResult): number[] | undefined {
  const [one, other] = [arm, baseline].map((name) => result.arms.find((each) => each.name === name))
  if (one === undefined || other === undefined || !other.valid) return undefined
  const theirs = perRound(other, metric, share)
  const found = [...perRound(one, metric, share)].flatMap(([round, value]) =>
    theirs.has(round) ? [value - theirs.get(round)!] : [],
  )
  return metric === 'p99' || metric === 'p50' ? found.map((value) => -value) : found
}

/** Mean logarithm by round. */
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

function toChange({ arm, metric, share, against }: Question, judged: Ratio): Change {
  const { ratio, low, high, confidence, verdict } = judged
  const isLatency = metric === 'p99' || metric === 'p50'
  // Latencies are judged as before over after, and reported as after over before.
  const range = isLatency ? { ratio: 1 / ratio, low: 1 / high, high: 1 / low } : { ratio, low, high }
  return { arm, metric, share, against, ...range, confidence, verdict }
}

/** The larger noise of the two runs. Results have none for latencies. */
function noiseFloor(before: Result, after: Result, metric: Metric): number {
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
  // A valid arm that is gone is reported as a regression.
  const gone = before.arms.filter(({ name, valid, control }) => !valid && !control && !now.includes(name))
  const { machine: one } = before
  const { machine: other } = after
  return [
    ...(same ? [] : ['The machines differ, so only ratios within each run are compared.']),
    ...(one.node === other.node ? [] : [`Node ${one.node} in the first run, ${other.node} in the second.`]),
    ...(gone.length > 0 ? [`Only in the first run: ${gone.map(({ name }) => name).join(', ')}.`] : []),
    ...(fresh.length > 0 ? [`Only in the second run: ${fresh.join(', ')}.`] : []),
    ...invalidBefore(before, now),
  ]
}

function invalidBefore(before: Result, now: readonly string[]): string[] {
  const names = before.arms.filter(({ valid, name }) => !valid && now.includes(name)).map(({ name }) => name)
  return names.length === 0 ? [] : [`Invalid in the first run: ${names.join(', ')}.`]
}
