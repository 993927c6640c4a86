import type { Varied } from './options.ts'
import { planOf, type Plan, type Run } from './own-plan.ts'

/** An app with its services in one way in their places. */
export interface Placement {
  /** The arm's. */
  readonly name: string
  readonly title: string
  readonly plan: Plan
  /** Where all services are that can be there; undefined: where the config has them. */
  readonly run?: Run
}

export interface Placements {
  /** The app as it is comes first. */
  readonly placements: readonly [Placement, ...Placement[]]
  readonly notes: readonly string[]
}

const titles: Readonly<Record<Run, string>> = {
  shared: 'under Busbar, all services shared',
  thread: 'under Busbar, a thread for each service',
  process: 'under Busbar, a process for each service',
}

/** The ways to compare, none of them twice; the notes tell what is not as a way's name says. */
export async function placementsOf(folder: string, vary: Varied | undefined): Promise<Placements> {
  const plan = await planOf(folder)
  if (vary === undefined) return { placements: [{ name: 'busbar', title: 'under Busbar', plan }], notes: [] }
  const placements: [Placement, ...Placement[]] = [{ name: 'busbar', title: 'under Busbar, as it is', plan }]
  const notes: string[] = []
  for (const run of ['shared', 'thread', 'process'] as const) {
    const moved: Placement = { name: run, title: titles[run], plan: await planOf(folder, run), run }
    const same = placements.find((other) => shapeOf(other.plan) === shapeOf(moved.plan))
    if (same === undefined) placements.push(moved)
    notes.push(
      ...(same === undefined ? notMoved(moved) : [`Left out: ${run}, since that is the same as ${same.name}.`]),
    )
  }
  return { placements, notes }
}

function notMoved({ name, plan, run }: Placement): string[] {
  const staying = plan.services.filter((service) => service.run !== run)
  if (staying.length === 0) return []
  return [`Not moved in ${name}: ${staying.map((service) => `${service.name} (${service.run})`).join(', ')}.`]
}

/** Which services are together, and in what. */
function shapeOf({ places }: Plan): string {
  return JSON.stringify(places.map(({ kind, hosts }) => [kind, hosts]))
}
