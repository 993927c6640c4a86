import type { ArmResult, ComparisonResult, Result } from '../result.ts'
import { isTooWide } from './format.ts'
import { reasonText } from './reason.ts'

/** The result in sentences: what is faster, by how much, and how certain that is. */
export function sentencesFor(result: Result): string[] {
  return [
    ...answers(result),
    ...result.arms.filter((arm) => !arm.valid).map(invalid),
    ...noise(result),
    ...result.notes,
  ]
}

function answers(result: Result): string[] {
  return deciding(result).map((each) => sentenceOn(result, each))
}

/** The comparisons that decide: throughput first, then latency, each in order of the ratio. */
export function deciding({ comparisons }: Result): ComparisonResult[] {
  const decisive = comparisons.filter((each) => each.decides)
  const throughput = decisive.filter(({ share }) => share === null).toSorted((one, other) => other.ratio - one.ratio)
  const latency = decisive.filter(({ share }) => share !== null)
  return [...throughput, ...latency.toSorted((one, other) => one.share! - other.share! || one.ratio - other.ratio)]
}

/** The sentence without figures. */
export function claim(result: Result, found: ComparisonResult): string {
  return claimOf(found, (name) => titleOf(result, name))
}

export function sentenceOn(result: Result, found: ComparisonResult): string {
  return sentence(found, (name) => titleOf(result, name), result.unit)
}

/** The arm's title, followed by the parameters if the arm has several cells. */
export function titleOf(result: Result, name: string): string {
  const arm = result.arms.find((each) => each.name === name)
  if (arm === undefined) return name
  const [, ...rest] = name.split(', ')
  return [arm.title, ...rest].join(', ')
}

/** `requests per server CPU second`. */
export function metricText({ metric, share }: ComparisonResult, unit: Result['unit']): string {
  const what = unit === 'run' ? 'runs' : 'requests'
  switch (metric) {
    case 'perSecond':
      return `${what} per second`
    case 'perCpuSecond':
      return `${what} per server CPU second`
    case 'p50':
    case 'p99':
      return `latency at ${metric} (at ${Math.round((share ?? 0) * 100)} % of the baseline’s capacity)`
  }
}

export function roundsText(rounds: number): string {
  return rounds === 1 ? 'one round' : `${rounds} rounds`
}

/** `12 rounds in 900 s`, or what stopped the run earlier. */
export function lengthText({ rounds, seconds, stopped }: Result): string {
  const time = `in ${Math.round(seconds)} s`
  if (stopped === null) return `${roundsText(rounds)} ${time}`
  const by = stopped.by === 'budget' ? 'its time budget' : 'hand'
  return `stopped by ${by} after ${rounds} of at least ${roundsText(stopped.wanted)}, ${time}`
}

export function percent(share: number): string {
  const value = share * 100
  return `${value.toFixed(value < 10 || value % 1 > 0.05 ? 1 : 0).replace(/\.0$/, '')}\u{a0}%`
}

function sentence(found: ComparisonResult, title: (name: string) => string, unit: Result['unit']): string {
  const metric = metricText(found, unit)
  const range = `${percent(found.confidence)} interval ${ratioText(found.low)} to ${ratioText(found.high)}`
  const claim = claimOf(found, title)
  switch (found.verdict) {
    case 'faster':
    case 'slower':
      return `${claim}: ${ratioText(found.ratio)} times the ${metric} (${range}).`
    case 'no difference':
      return `${claim} (${range} of the ${metric}).`
    case 'unclear':
      if (isTooWide(found)) return `${claim}: too few rounds to compare the ${metric}.`
      return `${claim}: ${range} of the ${metric}. Run more rounds to find out.`
    case 'invalid':
      return `${claim} by ${metric}.`
  }
}

function claimOf({ verdict, arm, baseline }: ComparisonResult, title: (name: string) => string): string {
  // In quotes, since titles have commas.
  const [one, other] = [`“${title(arm)}”`, `“${title(baseline)}”`]
  switch (verdict) {
    case 'faster':
    case 'slower':
      return `${one} is ${verdict} than ${other}`
    case 'no difference':
      return `${one} and ${other} do not differ by an amount that matters`
    case 'unclear':
      return `Whether ${one} and ${other} differ is unclear`
    case 'invalid':
      return `${one} and ${other} were not compared`
  }
}

/** As short as precision allows. */
export function ratioText(value: number): string {
  if (value >= 1e6) return 'any'
  return value >= 100 ? value.toFixed(0) : value < 0.1 ? value.toPrecision(1) : value.toFixed(2)
}

function invalid(arm: ArmResult): string {
  return `“${arm.title}” does not count: ${arm.invalidBecause.map(reasonText).join('; ')}`
}

function noise(result: Result): string[] {
  const controls = result.arms.filter(({ control }) => control)
  if (controls.length === 0) return []
  if (!controls.some(({ valid }) => valid))
    return ['The second copy of an arm does not count, so the noise of this session is unknown.']
  const metric = result.comparisons.some((each) => each.decides && each.metric === 'perCpuSecond')
    ? 'perCpuSecond'
    : 'perSecond'
  const difference = result.floor[metric] - 1
  return [
    `Two copies of the same arm differed by ${percent(difference)} in this session, so no smaller difference is claimed. Differences below ${percent(result.smallestDifference)} do not matter here.`,
  ]
}
