import type { Arm } from '../arm.ts'
import type { LoadRequest } from '../engine/job.ts'
import type { Cell } from '../protocol/plan.ts'
import type { Work } from '../protocol/slice.ts'
import type { Choice, Scenario, Variant } from './scenario.ts'

/**
 * The cells of a run: every chosen arm with all parameters, and as control a second copy of the
 * baseline, or of the arm that the scenario names.
 */
export function cellsOf(scenario: Scenario, choice: Choice): Cell[] {
  const range = rangeOf(scenario, choice)
  const arms = chosenArms(scenario, choice)
  const baseline = arms.find((arm) => arm.name === scenario.baseline)!
  const doubled = arms.find((arm) => arm.name === scenario.control) ?? baseline
  const toCell = (arm: Arm, workers: number, connections: number, control: boolean): Cell => {
    const name = nameOf(arm, workers, connections, range)
    const compared = nameOf(baseline, workers, connections, range)
    return {
      name: control ? `${name} (again)` : name,
      arm,
      workers,
      work: { ...workOf(scenario, choice, arm), connections },
      baseline: control ? name : arm === baseline ? undefined : compared,
      ratedBy: compared,
      translated: arm.translate !== undefined || baseline.translate !== undefined,
      control,
    }
  }
  return range.workers.flatMap((workers, at) =>
    range.connections.flatMap((connections) => {
      const present = arms.filter((arm) => !arm.single || at === 0)
      const cells = present.map((arm) => toCell(arm, workers, connections, false))
      return present.includes(doubled) ? [...cells, toCell(doubled, workers, connections, true)] : cells
    }),
  )
}

/** The arm with the parameters that vary: `tcp-16`, `busbar, 2 workers, 100 connections`. */
function nameOf(arm: Arm, workers: number, connections: number, range: ParameterRange): string {
  const numbers = [
    range.workers.length > 1 && !arm.single && counted(workers, 'worker'),
    range.connections.length > 1 && counted(connections, 'connection'),
  ]
  return [arm.name, ...numbers.filter((text) => text !== false)].join(', ')
}

function counted(number: number, what: string): string {
  return number === 1 ? `1 ${what}` : `${number} ${what}s`
}

/** The request for all arms, before an arm translates it. */
export function requestOf(scenario: Scenario, choice: Choice): LoadRequest {
  const parameters = { ...scenario.parameters, ...choice.parameters }
  for (const name of Object.keys(parameters))
    if (!Object.hasOwn(scenario.parameters ?? {}, name)) throw unknown(scenario, 'parameter', name, scenario.parameters)
  return choice.request ?? variantOf(scenario, choice)?.request?.(parameters) ?? scenario.request(parameters)
}

export function variantOf(scenario: Scenario, { variant }: Choice): Variant | undefined {
  if (variant === undefined) return undefined
  const { variants = {} } = scenario
  if (!Object.hasOwn(variants, variant)) throw unknown(scenario, 'work', variant, variants)
  return variants[variant]
}

/** Sentences about what a quick run leaves out. */
export function leftOut(scenario: Scenario, choice: Choice): string[] {
  if (!choice.quick) return []
  const all = rangeOf(scenario, { ...choice, quick: false })
  const kept = rangeOf(scenario, choice)
  const lists = [
    ['arms', without(namesOf(scenario, { ...choice, quick: false }), namesOf(scenario, choice))],
    ['workers', without(all.workers, kept.workers)],
    ['connections', without(all.connections, kept.connections)],
  ] as const
  const missing = lists.filter(([, items]) => items.length > 0).map(([what, items]) => `${what} ${items.join(', ')}`)
  return missing.length === 0 ? [] : [`Left out by --quick: ${missing.join('; ')}.`]
}

function without<T>(all: readonly T[], kept: readonly T[]): T[] {
  return all.filter((each) => !kept.includes(each))
}

interface ParameterRange {
  readonly workers: readonly number[]
  readonly connections: readonly number[]
}

function rangeOf(scenario: Scenario, choice: Choice): ParameterRange {
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
    if (choice.variant !== undefined && arm.lacks?.includes(choice.variant))
      throw new Error(`${name} does not implement the work "${choice.variant}"`)
    return arm
  })
}

/** The baseline is always included, and first. */
function namesOf(scenario: Scenario, choice: Choice): string[] {
  const usual = scenario.arms.filter((arm) => !arm.onlyWhenAsked).map((arm) => arm.name)
  return [...new Set([scenario.baseline, ...(choice.arms ?? (choice.quick ? scenario.quick.arms : usual))])]
}

function unknown(scenario: Scenario, what: string, name: string, known: object | undefined): Error {
  const names = Object.keys(known ?? {})
  const there = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`
  return new Error(`${scenario.name} has no ${what} "${name}"; ${there}`)
}
