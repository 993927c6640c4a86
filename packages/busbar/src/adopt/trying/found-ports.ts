import type { AppConfig } from '../../config/schema/app-schema.ts'
import type { ServiceConfig } from '../imported.ts'

/** What the gateway listens on if nothing says otherwise. */
const defaultPort = 3000

/** The config that keeps ports open which only showed when the services ran. */
export function withFoundPorts(config: AppConfig, entry: string, ports: Readonly<Record<string, number>>): AppConfig {
  const services = Object.entries(config.services ?? {}).map(([name, service]) => {
    const found = ports[name]
    const own: ServiceConfig = typeof service === 'string' ? { path: service } : service
    // A command listens there itself, whatever PORT says.
    if (found !== undefined && own.command !== undefined) return [name, { ...own, port: found }] as const
    return [name, found === undefined || name === entry ? service : { ...own, expose: found }] as const
  })
  const gateway = { ...config.gateway, ...gatewayPort(config, entry, ports) }
  return { ...config, ...(Object.keys(gateway).length > 0 && { gateway }), services: Object.fromEntries(services) }
}

/** That of an entry, unless it listens there itself. */
function gatewayPort(
  { gateway, services = {} }: AppConfig,
  entry: string,
  ports: Readonly<Record<string, number>>,
): { readonly port?: number } {
  const found = ports[entry]
  const service = services[entry]
  const isCommand = typeof service === 'object' && service.command !== undefined
  if (found === undefined) return {}
  const configured = gateway?.port
  if (!isCommand) return configured === undefined ? { port: found } : {}
  const opened = Object.values(services).flatMap((one) =>
    typeof one === 'object' ? [one.expose, one.port].flat() : [],
  )
  const taken = new Set([...Object.values(ports), ...opened.map((one) => (typeof one === 'object' ? one.port : one))])
  if (!taken.has(Number(configured ?? defaultPort))) return {}
  const next = Array.from({ length: taken.size + 1 }, (_, index) => defaultPort + index)
  return { port: next.find((port) => !taken.has(port))! }
}
