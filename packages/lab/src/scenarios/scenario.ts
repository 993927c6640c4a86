import type { Arm } from '../arm.ts'
import type { LoadRequest } from '../engine/job.ts'
import type { Cell } from '../protocol/plan.ts'
import type { Work } from '../protocol/slice.ts'

/** A question the lab answers: which arms are compared, by what work. `docs/guides/lab.md` tells how to add one. */
export interface Scenario {
  readonly name: string
  readonly question: string
  /** The arm that all others are compared with. */
  readonly baseline: string
  readonly arms: readonly Arm[]
  /** Arms that a quick run keeps when none are named: few enough for three minutes. */
  readonly quick: readonly string[]
  /** Values that a run without flags takes. */
  readonly connections: readonly number[]
  readonly workers: readonly number[]
  /** What each arm must answer, and how. */
  request(): LoadRequest
}

export interface Choice {
  readonly arms?: readonly string[]
  readonly workers?: readonly number[]
  readonly connections?: readonly number[]
  readonly quick: boolean
  readonly work?: Partial<Work>
  readonly request?: LoadRequest
}

/** The cells of a run: every chosen arm at every parameter, and the baseline once more as a control for noise. */
export function cellsOf(scenario: Scenario, choice: Choice): Cell[] {
  const arms = chosenArms(scenario, choice)
  const workers = choice.workers ?? scenario.workers
  const connections = choice.connections ?? scenario.connections
  const several = { workers: workers.length > 1, connections: connections.length > 1 }
  return workers.flatMap((count) =>
    connections.flatMap((held) => {
      const suffix = [several.workers && `${count} workers`, several.connections && `${held} connections`].filter(
        Boolean,
      )
      const name = (arm: Arm) => [arm.name, ...suffix].join(', ')
      const baseline = arms.find((arm) => arm.name === scenario.baseline)!
      const cell = (arm: Arm, control: boolean): Cell => ({
        name: control ? `${name(arm)} (again)` : name(arm),
        arm,
        workers: count,
        work: { requests: [choice.request ?? scenario.request()], ...choice.work, connections: held },
        baseline: arm === baseline && !control ? undefined : name(baseline),
        control,
      })
      return [...arms.map((arm) => cell(arm, false)), cell(baseline, true)]
    }),
  )
}

function chosenArms(scenario: Scenario, choice: Choice): Arm[] {
  const known = new Map(scenario.arms.map((arm) => [arm.name, arm]))
  const names =
    choice.arms ??
    (choice.quick ? scenario.quick : scenario.arms.filter((arm) => !arm.onlyWhenAsked).map((arm) => arm.name))
  for (const name of names)
    if (!known.has(name))
      throw new Error(`${scenario.name} has no arm "${name}"; it has ${[...known.keys()].join(', ')}`)
  return [...new Set([scenario.baseline, ...names])].map((name) => known.get(name)!)
}
