import type { AppConfig } from '../../config/schema/app-schema.ts'
import type { LocalCall } from './local-calls.ts'

/** Whether Busbar can run the app while the services of today hold their ports. */
export type BesideToday<Found> =
  | ({ readonly possible: true } & Found)
  | { readonly possible: false; readonly why: string }

/**
 * The config without ports of its own. Only a command needs such a port, and calls to one that do
 * not go through the mesh: they would reach the services of today. `rewritten`: they all do.
 */
export function besideToday(
  config: AppConfig,
  calls: readonly LocalCall[],
  rewritten: boolean,
): BesideToday<{ readonly config: AppConfig }> {
  const services = Object.entries(config.services ?? {})
  for (const [name, service] of services)
    if (typeof service === 'object' && service.command !== undefined && service.port !== undefined)
      return { possible: false, why: `${name} is a command that listens on port ${service.port} itself` }
  const byPort = calls.find(({ variable }) => variable === undefined)
  if (!rewritten && byPort !== undefined) {
    const { from, to, address } = byPort
    return { possible: false, why: `${from} calls ${to} at ${address}, and not by name (see --rewrite-localhost)` }
  }
  const moved = services.map(([name, service]) => {
    if (typeof service === 'string') return [name, service] as const
    const { expose: _, ...rest } = service
    return [name, rest] as const
  })
  return { possible: true, config: { ...config, services: Object.fromEntries(moved) } }
}
