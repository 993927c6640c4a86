import type { App } from './app.ts'
import { findMovedCopies } from './hazards/copies.ts'
import type { Hazard } from './hazards/hazard.ts'
import { findMetricsHazards } from './hazards/metrics.ts'
import { findNativeHazards } from './hazards/native.ts'
import { findSourceHazards } from './hazards/patterns.ts'
import { type Program, readProgram } from './hazards/program.ts'
import { findRouteHazards } from './hazards/routes.ts'
import { findStartHazards } from './hazards/start.ts'
import { findTypeImports } from './hazards/type-imports.ts'

/**
 * Looks at the config, the programs' own source files and direct dependencies, and starts no program. What it finds is likely, not
 * certain; what it does not find may still be there. Bounded: see `hazards/program.ts`.
 */
export async function findHazards(app: App): Promise<Hazard[]> {
  const programs: Program[] = []
  const perService: Hazard[] = []
  for (const service of app.services) perService.push(...(await findStartHazards(service)))
  for (const service of app.services) if (service.kind !== 'command') programs.push(await readProgram(service))
  const perProgram: Hazard[] = []
  for (const program of programs)
    perProgram.push(
      ...findSourceHazards(program, app),
      ...(await findTypeImports(program)),
      ...(await findNativeHazards(program)),
    )
  return [
    ...findRouteHazards(app),
    ...findMovedCopies(app),
    ...perService,
    ...(await findMetricsHazards(programs)),
    ...perProgram,
  ]
}
