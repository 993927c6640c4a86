import type { ArmResult, ComparisonResult, Result } from '../result.ts'

/** The answer in sentences: what is faster, by how much, and whether that is sure. */
export function inWords(result: Result): string[] {
  return [
    ...answers(result),
    ...result.arms.filter((arm) => !arm.valid).map(invalid),
    ...noise(result),
    ...result.notes,
  ]
}

/** The answers alone: throughput first, then latency; the fastest first. */
export function answers(result: Result): string[] {
  const title = (name: string) => titleOf(result, name)
  const decisive = result.comparisons.filter((each) => each.decides)
  const throughput = decisive.filter(({ share }) => share === null).toSorted((one, other) => other.ratio - one.ratio)
  const latency = decisive.filter(({ share }) => share !== null).toSorted((one, other) => one.ratio - other.ratio)
  return [...throughput, ...latency].map((each) => sentence(each, title, result.unit))
}

/** Where a title stands for several cells, it is followed by what tells them apart. */
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

export function percent(share: number): string {
  const value = share * 100
  return `${value.toFixed(value < 10 || value % 1 > 0.05 ? 1 : 0).replace(/\.0$/, '')} %`
}

function sentence(found: ComparisonResult, title: (name: string) => string, unit: Result['unit']): string {
  const metric = metricText(found, unit)
  const range = `${percent(found.confidence)} interval ${digits(found.low)} to ${digits(found.high)}`
  const [arm, baseline] = [title(found.arm), title(found.baseline)]
  switch (found.verdict) {
    case 'faster':
      return `${arm} is faster than ${baseline}: ${digits(found.ratio)} times the ${metric} (${range}).`
    case 'slower':
      return `${arm} is slower than ${baseline}: ${digits(found.ratio)} times the ${metric} (${range}).`
    case 'no difference':
      return `${arm} and ${baseline} do not differ by anything that matters (${range} of the ${metric}).`
    case 'unclear':
      return `Whether ${arm} and ${baseline} differ is unclear: ${range} of the ${metric}; more rounds would tell.`
    case 'invalid':
      return `${arm} and ${baseline} were not compared by ${metric}.`
  }
}

function digits(value: number): string {
  if (value > 1e6) return 'any'
  return value >= 100 ? value.toFixed(0) : value < 0.1 ? value.toPrecision(1) : value.toFixed(2)
}

function invalid(arm: ArmResult): string {
  return `${arm.title} does not count: ${arm.invalidBecause.map((reason) => reason.split('\n')[0]).join('; ')}`
}

function noise(result: Result): string[] {
  if (!result.arms.some(({ control }) => control)) return []
  const metric = result.comparisons.some((each) => each.decides && each.metric === 'perCpuSecond')
    ? 'perCpuSecond'
    : 'perSecond'
  const difference = result.floor[metric] - 1
  return [
    `Two copies of the same arm differed by ${percent(difference)} in this session; no smaller difference is claimed, and less than ${percent(result.smallestDifference)} does not matter here.`,
  ]
}
