import type { ArmResult, ComparisonResult, Result } from '../result.ts'

/** The answer in sentences: what is faster, by how much, and whether that is sure. */
export function inWords(result: Result): string[] {
  const decisive = result.comparisons.filter((each) => each.decides)
  const title = (name: string) => result.arms.find((arm) => arm.name === name)?.title ?? name
  return [
    ...decisive.toSorted((one, other) => other.ratio - one.ratio).map((each) => sentence(each, title)),
    ...result.arms.filter((arm) => !arm.valid).map(invalid),
    ...noise(result),
    ...result.notes,
  ]
}

function sentence(found: ComparisonResult, title: (name: string) => string): string {
  const per = found.metric === 'perCpuSecond' ? 'requests per server CPU second' : 'requests per second'
  const range = `${percent(found.confidence)} interval ${found.low.toFixed(2)} to ${found.high.toFixed(2)}`
  const [arm, baseline] = [title(found.arm), title(found.baseline)]
  switch (found.verdict) {
    case 'faster':
      return `${arm} is faster than ${baseline}: ${found.ratio.toFixed(2)} times the ${per} (${range}).`
    case 'slower':
      return `${arm} is slower than ${baseline}: ${found.ratio.toFixed(2)} times the ${per} (${range}).`
    case 'no difference':
      return `${arm} and ${baseline} do not differ by anything that matters (${range} of the ${per}).`
    case 'unclear':
      return `Whether ${arm} and ${baseline} differ is unclear: ${range} of the ${per}; more rounds would tell.`
    case 'invalid':
      return `${arm} was not compared.`
  }
}

function invalid(arm: ArmResult): string {
  return `${arm.title} does not count: ${arm.invalidBecause.map((reason) => reason.split('\n')[0]).join('; ')}`
}

function noise(result: Result): string[] {
  const metric = result.comparisons.find((each) => each.decides)?.metric ?? 'perSecond'
  const floor = result.floor[metric]
  return [
    `Two copies of the same arm differed by ${percent(floor - 1)} in this session; no smaller difference is claimed, and less than ${percent(result.smallestDifference)} does not matter here.`,
  ]
}

function percent(share: number): string {
  const value = share * 100
  return `${value.toFixed(value < 10 || value % 1 > 0.05 ? 1 : 0).replace(/\.0$/, '')} %`
}
