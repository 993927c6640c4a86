import type { AppConfig } from '../../config/schema/app-schema.ts'
import type { Placement } from '../../config/app.ts'
import type { ServiceConfig } from '../imported.ts'

/** The config in which all programs run there that can. */
export function withPlacement(config: AppConfig, run: Placement['run']): AppConfig {
  const services = Object.entries(config.services ?? {}).map(([name, service]) => {
    if (typeof service === 'string') return [name, service] as const
    // A command, and a program with flags of Node, need a process.
    const stays =
      service.command !== undefined || service.nodeOptions !== undefined || service.permissions !== undefined
    if (stays) return [name, service] as const
    const { run: _, ...rest } = service
    return [name, shortest(rest)] as const
  })
  const { run: _, ...defaults } = config.defaults ?? {}
  const chosen = { ...defaults, ...(run !== 'thread' && { run }) }
  return {
    ...config,
    ...(Object.keys(chosen).length > 0 ? { defaults: chosen } : { defaults: undefined }),
    services: Object.fromEntries(services),
  }
}

function shortest(service: ServiceConfig): string | ServiceConfig {
  return Object.keys(service).join() === 'path' ? service.path! : service
}
