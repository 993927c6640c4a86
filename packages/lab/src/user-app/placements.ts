import { readAppPlan, type AppPlan, type Run } from './app-plan.ts'

/** What of an app is varied. */
export type Varied = 'placement'

/** An app with one placement of its services. */
export interface Placement {
  /** Name of the arm. */
  readonly name: string
  readonly title: string
  readonly plan: AppPlan
  /** Where all services run that can run there. Undefined: where the config puts them. */
  readonly run?: Run
}

export interface Placements {
  /** The unchanged app is the first. */
  readonly placements: readonly [Placement, ...Placement[]]
  readonly notes: readonly string[]
}

const titles: Readonly<Record<Run, string>> = {
  shared: 'under Busbar, all services shared',
  thread: 'under Busbar, a thread for each service',
  process: 'under Busbar, a process for each service',
}

/** The placements to compare, without duplicates. Notes list services that could not be moved. */
export async function placementsOf(folder: string, vary: Varied | undefined): Promise<Placements> {
  const plan = await readAppPlan(folder)
  if (vary === undefined) return { placements: [{ name: 'busbar', title: 'under Busbar', plan }], notes: [] }
  const placements: [Placement, ...Placement[]] = [{ name: 'busbar', title: 'under Busbar, as it is', plan }]
  const notes: string[] = []
  for (const run of ['shared', 'thread', 'process'] as const) {
    const moved: Placement = { name: run, title: titles[run], plan: await readAppPlan(folder, run), run }
    const same = placements.find((other) => shapeOf(other.plan) === shapeOf(moved.plan))
    if (same === undefined) placements.push(moved)
    notes.push(...(same === undefined ? notMoved(moved) : [`Left out: ${run}, since it is the same as ${same.name}.`]))
  }
  return { placements, notes }
}

function notMoved({ name, plan, run }: Placement): string[] {
  const staying = plan.services.filter((service) => service.run !== run)
  if (staying.length === 0) return []
  return [`Not moved in ${name}: ${staying.map((service) => `${service.name} (${service.run})`).join(', ')}.`]
}

/** Which services share a worker, and its kind. */
export function shapeOf({ places }: AppPlan): string {
  return JSON.stringify(places.map(({ kind, hosts }) => [kind, hosts]))
}
