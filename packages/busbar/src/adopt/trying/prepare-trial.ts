/** What `busbar try` needs to know of a repository before it starts anything. */
import { symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { App } from '../../config/app.ts'
import { findHazards } from '../../config/hazards/find-hazards.ts'
import type { Hazard } from '../../config/hazards/hazard.ts'
import { loadApp, type LoadOptions } from '../../config/load.ts'
import type { AppConfig } from '../../config/schema/app-schema.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { Imported, ServiceConfig } from '../imported.ts'
import { besideToday, type BesideToday } from './beside-today.ts'
import { withFoundPorts } from './found-ports.ts'
import { findLocalCalls, type LocalCall, withCapturedPorts, withServiceNames } from './local-calls.ts'
import { documentRequests, type DocumentRequests } from './openapi-requests.ts'
import { withNeeds } from './start-needs.ts'
import { findToday, type Today } from './today.ts'
import { listFolder } from '../../config/file/file-lookup.ts'

export interface PreparedTrial {
  readonly app: App
  /** The config of the trial. Its paths are relative to the repository. */
  readonly config: AppConfig
  /** The service that gets the gateway's requests. */
  readonly entry: string
  readonly today: Today
  readonly calls: readonly LocalCall[]
  /** What is unsafe if all services share a thread. */
  readonly hazards: readonly Hazard[]
  /** Ports besides the gateway's that Busbar or a command opens, by service. */
  readonly exposed: Readonly<Record<string, number>>
  /** `location`: the config without these ports, which leaves them to the services of today. */
  readonly beside: BesideToday<{ readonly location: string }>
  readonly documents: readonly ServiceRequests[]
}

export interface ServiceRequests extends DocumentRequests {
  readonly service: string
}

export interface TrialOptions {
  readonly found: Imported
  /** A folder for the config, empty or that of an earlier call. */
  readonly folder: string
  /** Calls to ports of this machine go through the mesh. */
  readonly rewriteLocalhost: boolean
  readonly env: NodeJS.ProcessEnv
  readonly learned: Learned
}

/** What runs of the services have shown. */
export interface Learned {
  /** Ports that are not in the sources. By service. */
  readonly ports: Readonly<Record<string, number>>
  /** Services that did not start under Busbar while those that they call were starting too. */
  readonly startCallers: ReadonlySet<string>
}

const configName = 'busbar.config.json'
/** Nothing of the repository is linked by such a name. */
const besideName = 'busbar.config.beside.json'

export async function prepareTrial(options: TrialOptions): Promise<PreparedTrial> {
  const { found, folder, rewriteLocalhost, env, learned } = options
  const { root, kind } = found
  const load = (options: LoadOptions): Promise<App> => loadTrial(folder, found.source, options)
  const routed = withEntry(found.config)
  const entry = entryOf(routed)
  const imported = withFoundPorts(routed, entry, learned.ports)
  await linkRepository(root, folder)
  await writeTemporaryConfig(root, join(folder, configName), imported)
  const before = await load({ env })
  const today = await findToday({ app: before, config: imported, kind, entry, root, found: learned.ports })
  const { ports } = today
  const services = before.services.map(({ name, path, kind, entry: { file } }) => ({
    name,
    path,
    entry: kind === 'command' ? undefined : file,
  }))
  const calls = await findLocalCalls({ root, config: imported, services, ports })
  const named = rewriteLocalhost ? withCapturedPorts(imported, ports) : withServiceNames(imported, calls)
  const config = withNeeds(named, calls, learned.startCallers)
  await writeTemporaryConfig(root, join(folder, configName), config)
  const app = await load({ env })
  const shared = await load({ env, overrides: { run: 'shared' } })
  return {
    app,
    config,
    entry,
    today,
    calls,
    hazards: await findHazards(shared),
    exposed: Object.fromEntries(
      app.services.flatMap(({ name, kind, port, expose: [first] }) => {
        const own = first?.port ?? (kind === 'command' ? port : undefined)
        return own === undefined ? [] : [[name, own]]
      }),
    ),
    beside: await prepareBeside(join(folder, besideName), root, besideToday(config, calls, rewriteLocalhost)),
    documents: await findDocuments(app),
  }
}

async function prepareBeside(
  location: string,
  root: string,
  found: BesideToday<{ readonly config: AppConfig }>,
): Promise<PreparedTrial['beside']> {
  if (!found.possible) return found
  await writeTemporaryConfig(root, location, found.config)
  return { possible: true, location }
}

/** A fault of the temporary config is one of what it was made of. */
async function loadTrial(folder: string, source: string, options: LoadOptions): Promise<App> {
  try {
    return await loadApp(folder, options)
  } catch (error) {
    if (!BusbarError.is(error)) throw error
    const { code, service } = error
    // There is no config yet by which Busbar could build.
    const hint = code === 'SERVICE_NOT_BUILT' ? 'Build it as you do today, then try again.' : error.hint
    const message = error.message.replaceAll(join(folder, configName), source)
    const parts = { ...(hint !== undefined && { hint }), ...(service !== undefined && { service }) }
    throw new BusbarError(code, { message, cause: error, ...parts })
  }
}

/** Without an entry or routes the gateway would answer nothing. */
function withEntry(config: AppConfig): AppConfig {
  const [first, second] = Object.keys(config.services ?? {})
  const { entry, routes } = config.gateway ?? {}
  if (second === undefined || entry !== undefined || routes !== undefined) return config
  return { ...config, gateway: { ...config.gateway, entry: first! } }
}

function entryOf({ gateway, services = {} }: AppConfig): string {
  const routes = Object.entries(gateway?.routes ?? {})
  const [, route] = routes.find(([path]) => path === '/') ?? routes[0] ?? []
  const routed = typeof route === 'object' ? route.service : route
  return gateway?.entry ?? routed ?? Object.keys(services)[0]!
}

async function findDocuments({ services }: App): Promise<ServiceRequests[]> {
  const found: ServiceRequests[] = []
  for (const { name, path } of services) {
    const document = await documentRequests(path)
    if (document !== undefined) found.push({ service: name, ...document })
  }
  return found
}

/**
 * Makes `folder` an app of the repository without writing there: links lead to the repository's
 * files, for relative paths of the config.
 */
async function linkRepository(root: string, folder: string): Promise<void> {
  const linked = new Set(await listFolder(folder))
  const names = (await listFolder(root)).filter(
    (name) => !linked.has(name) && !/^(?:node_modules|\.git|busbar\.config\..*)$/.test(name),
  )
  for (const name of names) await symlink(join(root, name), join(folder, name))
}

/** Services keep their real folders, which are their working directories. */
async function writeTemporaryConfig(root: string, file: string, config: AppConfig): Promise<void> {
  const services = Object.entries(config.services ?? {}).map(([name, service]) => [name, inPlace(root, service)])
  const text = JSON.stringify({ ...config, services: Object.fromEntries(services) as AppConfig['services'] })
  // Values of variables may be secret.
  await writeFile(file, text, { mode: 0o600 })
}

function inPlace(root: string, service: string | ServiceConfig): ServiceConfig {
  const config = typeof service === 'string' ? { path: service } : service
  return { ...config, path: resolve(root, config.path ?? '.') }
}
