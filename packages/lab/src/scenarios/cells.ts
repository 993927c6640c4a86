import type { Arm } from '../arm.ts'
import type { LoadRequest } from '../engine/job.ts'
import type { Cell } from '../protocol/plan.ts'
import type { Work } from '../protocol/slice.ts'
import type { Choice, Scenario, Variant } from './scenario.ts'

/** The cells of a run: every chosen arm at every parameter, and the baseline once more as a control for noise. */
export function cellsOf(scenario: Scenario, choice: Choice): Cell[] {
  const { workers, connections } = extentOf(scenario, choice)
  const arms = chosenArms(scenario, choice)
  const baseline = arms.find((arm) => arm.name === scenario.baseline)!
  return workers.flatMap((count, at) =>
    connections.flatMap((held) => {
      const suffix = [
        workers.length > 1 && (count === 1 ? '1 worker' : `${count} workers`),
        connections.length > 1 && (held === 1 ? '1 connection' : `${held} connections`),
      ].filter(Boolean)
      const name = (arm: Arm) => [arm.name, ...suffix].join(', ')
      const cell = (arm: Arm, control: boolean): Cell => ({
        name: control ? `${name(arm)} (again)` : name(arm),
        arm,
        workers: count,
        work: { ...workOf(scenario, choice, arm), connections: held },
        baseline: arm === baseline && !control ? undefined : name(baseline),
        control,
      })
      const present = arms.filter((arm) => !arm.single || at === 0)
      return [...present.map((arm) => cell(arm, false)), cell(baseline, true)]
    }),
  )
}

/** What all arms are asked, before an arm translates it into its own protocol. */
export function requestOf(scenario: Scenario, choice: Choice): LoadRequest {
  const parameters = { ...scenario.parameters, ...choice.parameters }
  for (const name of Object.keys(parameters))
    if (scenario.parameters?.[name] === undefined) throw unknown(scenario, 'parameter', name, scenario.parameters)
  return choice.request ?? variantOf(scenario, choice)?.request?.(parameters) ?? scenario.request(parameters)
}

export function variantOf(scenario: Scenario, { variant }: Choice): Variant | undefined {
  if (variant === undefined) return undefined
  const found = scenario.variants?.[variant]
  if (found === undefined) throw unknown(scenario, 'work', variant, scenario.variants)
  return found
}

/** Sentences on what a quick run leaves out, so that nobody takes its table for the whole. */
export function leftOut(scenario: Scenario, choice: Choice): string[] {
  if (!choice.quick) return []
  const whole = extentOf(scenario, { ...choice, quick: false })
  const kept = extentOf(scenario, choice)
  const lists = [
    ['arms', without(namesOf(scenario, { ...choice, quick: false }), namesOf(scenario, choice))],
    ['workers', without(whole.workers, kept.workers)],
    ['connections', without(whole.connections, kept.connections)],
  ] as const
  const missing = lists.filter(([, items]) => items.length > 0).map(([what, items]) => `${what} ${items.join(', ')}`)
  return missing.length === 0 ? [] : [`Left out by --quick: ${missing.join('; ')}.`]
}

function without<T>(whole: readonly T[], kept: readonly T[]): T[] {
  return whole.filter((each) => !kept.includes(each))
}

function extentOf(scenario: Scenario, choice: Choice): { workers: readonly number[]; connections: readonly number[] } {
  const quick = choice.quick ? scenario.quick : undefined
  const variant = variantOf(scenario, choice)
  return {
    workers: choice.workers ?? quick?.workers ?? scenario.workers,
    connections: choice.connections ?? variant?.connections ?? quick?.connections ?? scenario.connections,
  }
}

function workOf(scenario: Scenario, choice: Choice, arm: Arm): Omit<Work, 'connections'> {
  const request = requestOf(scenario, choice)
  return {
    requests: [arm.translate?.(request) ?? request],
    ...scenario.work,
    ...variantOf(scenario, choice)?.work,
    ...choice.work,
  }
}

function chosenArms(scenario: Scenario, choice: Choice): Arm[] {
  const known = new Map(scenario.arms.map((arm) => [arm.name, arm]))
  return namesOf(scenario, choice).map((name) => {
    const arm = known.get(name)
    if (arm === undefined) throw unknown(scenario, 'arm', name, Object.fromEntries(known))
    return arm
  })
}

/** The baseline always, and first. */
function namesOf(scenario: Scenario, choice: Choice): string[] {
  const usual = scenario.arms.filter((arm) => !arm.onlyWhenAsked).map((arm) => arm.name)
  return [...new Set([scenario.baseline, ...(choice.arms ?? (choice.quick ? scenario.quick.arms : usual))])]
}

function unknown(scenario: Scenario, what: string, name: string, known: object | undefined): Error {
  const names = Object.keys(known ?? {})
  const there = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`
  return new Error(`${scenario.name} has no ${what} "${name}"; ${there}`)
}
