import type { App } from './app.ts'
import { findMetricsHazards } from './hazards/metrics.ts'
import { findNativeHazards } from './hazards/native.ts'
import { findSourceHazards } from './hazards/patterns.ts'
import { type Program, readProgram } from './hazards/program.ts'

/** What `busbar check` warns of; `docs/reference/errors.md` explains each. */
export const hazardCodes = [
  'METRICS_SHARED',
  'METRICS_PER_WORKER',
  'CHDIR',
  'RELATIVE_PATH',
  'CLUSTER',
  'NOT_STRIPPABLE',
  'NATIVE_ADDON',
] as const

export type HazardCode = (typeof hazardCodes)[number]

/** Something that is known to go wrong, or to mean something else, in a worker that services share. */
export interface Hazard {
  readonly code: HazardCode
  /** Whose it is. */
  readonly services: readonly string[]
  readonly message: string
  readonly hint: string
}

/**
 * Looks at the programs' own source files and direct dependencies, and starts nothing. What it finds is likely, not
 * certain; what it does not find may still be there. Bounded: see `hazards/program.ts`.
 */
export async function findHazards(app: App): Promise<Hazard[]> {
  const programs: Program[] = []
  for (const service of app.services) if (service.kind !== 'command') programs.push(await readProgram(service))
  const perProgram: Hazard[] = []
  for (const program of programs)
    perProgram.push(...findSourceHazards(program, app), ...(await findNativeHazards(program)))
  return [...(await findMetricsHazards(programs)), ...perProgram]
}
