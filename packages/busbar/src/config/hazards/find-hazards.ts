import type { App } from '../app.ts'
import type { Hazard } from './hazard.ts'
import { findMetricsHazards } from './metrics.ts'
import { findNativeHazards } from './native-addons.ts'
import { findSourceHazards } from './source-patterns.ts'
import { type Program, readProgram } from './program.ts'
import { findRouteHazards } from './routes.ts'
import { findStartHazards } from './start.ts'
import { findTypeImports } from './type-imports.ts'
import type { AppHosts } from '../../shared/hosts.ts'

/**
 * Examines the config, the programs' source files and their direct dependencies, without starting a
 * program. Findings are likely, not certain, and not complete. The effort is bounded: `program.ts`.
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
    ...findHostHazards(app),
    ...findMovedServices(app),
    ...perService,
    ...(await findMetricsHazards(programs)),
    ...perProgram,
  ]
}

/** Services that do not run where the config says: `services/shared-folders.ts`. */
function findMovedServices({ services }: App): Hazard[] {
  return services.flatMap(({ name, copyOf }): Hazard[] => {
    if (copyOf === undefined) return []
    const message = `${name} has the same folder as ${copyOf}, and not all of it is ES modules: a thread can load it only once, so ${name} runs in a thread of its own`
    const hint = `Write run: 'thread' for ${name}; or convert the folder to ES modules without createRequire.`
    return [{ code: 'COPY_MOVED', services: [name, copyOf], message, hint }]
  })
}

/** Links to other apps that anybody on the network can read, or open. */
function findHostHazards({ export: exported, cluster }: AppHosts): Hazard[] {
  const hazards: Hazard[] = []
  if (exported?.protocol === 'tcp')
    hazards.push({
      code: 'EXPORT_UNENCRYPTED',
      services: exported.services,
      message: `export.tcp has no TLS: every client that reaches ${exported.host}:${exported.port} may call ${exported.services.join(', ')}`,
      hint: 'Write export.tls; busbar cert makes the certificates.',
    })
  const open = cluster?.tls === undefined ? (cluster?.servers ?? []).filter((server) => !isLoopback(server)) : []
  if (open.length > 0)
    hazards.push({
      code: 'CLUSTER_UNENCRYPTED',
      services: cluster!.services,
      message: `cluster.nats has no TLS: calls through ${open.join(', ')} can be read on their way`,
      hint: "Write 'tls://' instead of 'nats://', unless the network encrypts.",
    })
  return hazards
}

function isLoopback(server: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+$/.test(server)
}
