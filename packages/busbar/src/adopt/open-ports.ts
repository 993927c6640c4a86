import type { AppConfig } from '../config/schema/app-schema.ts'
import type { Reporter } from './key-rules.ts'
import type { ServiceDraft } from './imported.ts'

/** The part of an `ImportDraft` that is about ports. */
interface PortsDraft extends Reporter {
  readonly config: Pick<AppConfig, 'gateway'>
  readonly services: readonly ServiceDraft[]
}

/** Names that the public service of an app usually has, the likeliest first. */
const publicNames = [
  /^(web|www|site|frontend|front|ui|app)\b/,
  /^(gateway|proxy|entry|main)\b/,
  /^(api|server|backend|http)\b/,
]

/** What the gateway listens on if nothing says otherwise. */
const defaultPort = 3000

/**
 * Keeps every port open on which clients reach a service today: one service gets the gateway's, the
 * others have ports of their own.
 */
export function openPorts(draft: PortsDraft): void {
  const { services, config } = draft
  dropUnknownRoutes(draft)
  const named = services.find(({ name }) => name === config.gateway?.entry)
  const entry = named ?? (config.gateway?.routes === undefined ? chooseEntry(services) : undefined)
  const taken = new Set<number>()
  if (entry !== undefined) taken.add(openAtGateway(entry, draft))
  for (const service of services) {
    const { port, name } = service
    if (service === entry || port === undefined) continue
    if (taken.has(port)) {
      draft.report(`port ${port} of ${name}`, { why: `${port} is already the port of another service` })
      continue
    }
    taken.add(port)
    open(service, port)
  }
}

/** Routes of services that were left out. */
function dropUnknownRoutes({ config, services }: PortsDraft): void {
  const { routes, ...gateway } = config.gateway ?? {}
  if (routes === undefined) return
  const known = new Set(services.map(({ name }) => name))
  const rest = Object.entries(routes).filter(([, route]) =>
    known.has(typeof route === 'string' ? route : route.service),
  )
  config.gateway = { ...gateway, ...(rest.length > 0 && { routes: Object.fromEntries(rest) }) }
}

function chooseEntry(services: readonly ServiceDraft[]): ServiceDraft | undefined {
  const [first, second] = services
  if (second === undefined) return first
  const reached = services.filter(({ port }) => port !== undefined)
  const candidates = reached.length > 0 ? reached : services
  for (const pattern of publicNames) {
    const found = candidates.find(({ name }) => pattern.test(name))
    if (found !== undefined) return found
  }
  return reached[0]
}

/** Returns the port. A sole service is the entry anyway. */
function openAtGateway(entry: ServiceDraft, { config, services }: PortsDraft): number {
  const { port = config.gateway?.port, host } = entry
  const gateway = {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...config.gateway,
    ...(services.length > 1 && { entry: entry.name }),
  }
  if (Object.keys(gateway).length > 0) config.gateway = gateway
  if (entry.config.command !== undefined) removePort(entry)
  return typeof port === 'number' ? port : defaultPort
}

/** A command gets its port from Busbar, unless it has to listen on a certain one. */
function open(service: ServiceDraft, port: number): void {
  const { config, host } = service
  if (config.command === undefined) config.expose = host === undefined ? port : { host, port }
  else {
    config.port = port
    removePort(service)
  }
}

function removePort({ config, environments }: ServiceDraft): void {
  for (const { env } of [config, ...Object.values(environments)]) delete env?.['PORT']
}
