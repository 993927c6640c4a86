import type { AppConfig } from '../../config/schema/app-schema.ts'
import type { Imported } from '../imported.ts'

/** Without services that opened no port when they ran. Those with a route stay. */
export function withoutSilent(found: Imported, silent: readonly string[]): Imported {
  const { config, leftOut } = found
  const names = silent.filter((name) => !isRouted(name, config))
  if (names.length === 0) return found
  const services = Object.entries(config.services ?? {})
    .filter(([name]) => !names.includes(name))
    .map(([name, service]) => {
      if (typeof service === 'string' || service.needs === undefined) return [name, service] as const
      const { needs, ...rest } = service
      const left = needs.filter((one) => !names.includes(one))
      return [name, left.length > 0 ? { ...rest, needs: left } : rest] as const
    })
  const why = 'it ran and opened no port, and Busbar runs services that listen'
  return {
    ...found,
    config: { ...config, services: Object.fromEntries(services) },
    leftOut: [...leftOut, ...names.map((name) => ({ name, why }))],
  }
}

function isRouted(name: string, { gateway }: AppConfig): boolean {
  const routes = Object.values(gateway?.routes ?? {})
  return gateway?.entry === name || routes.some((one) => (typeof one === 'string' ? one : one.service) === name)
}
