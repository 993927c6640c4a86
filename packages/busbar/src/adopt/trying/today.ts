/** How the services of a repository are started without Busbar. */
import { join } from 'node:path'
import type { App, Service } from '../../config/app.ts'
import { firstExistingFile } from '../../config/file/file-lookup.ts'
import { searchPath } from '../../config/services/command.ts'
import type { AppConfig } from '../../config/schema/app-schema.ts'
import type { SourceKind } from '../imported.ts'
import { findServer } from '../launch/server-evidence.ts'

export interface Today {
  readonly services: readonly TodayService[]
  /** The port at which each service listens today, as far as its sources and its config say. */
  readonly ports: Readonly<Record<string, number>>
  /** Why they cannot run without what started them. Undefined if they can. */
  readonly notToday: string | undefined
}

export interface TodayService {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Undefined: the variable `PORT` decides. */
  readonly port: number | undefined
}

interface TodaySources {
  readonly app: App
  readonly config: AppConfig
  readonly kind: SourceKind
  readonly entry: string
  /** The folder of the repository. */
  readonly root: string
  /** Ports that only showed when the services ran. By service. */
  readonly found: Readonly<Record<string, number>>
}

export async function findToday(sources: TodaySources): Promise<Today> {
  const watt = await wattToday(sources)
  if (watt !== undefined) return watt
  const { app, config, entry, found } = sources
  const described = await Promise.all(
    app.services.map(async (service): Promise<Described> => {
      const one = await describe(service, portIn(config, service, entry))
      const port = found[service.name]
      return port === undefined ? one : { ...one, port, isMovable: false }
    }),
  )
  const ports = Object.fromEntries(described.flatMap(({ name, port }) => (port === undefined ? [] : [[name, port]])))
  const alone = described.length === 1
  const taken = new Set<number>()
  const problems: string[] = []
  const services = described.map(({ port, isMovable, problem, ...service }): TodayService => {
    if (problem !== undefined) problems.push(problem)
    // A free port leaves the usual one to whatever runs there now.
    const isMoved = isMovable && (alone || (port !== undefined && taken.has(port)))
    if (!isMoved && port !== undefined && taken.has(port))
      problems.push(`${service.name} listens on port ${port}, as another service does`)
    if (port !== undefined) taken.add(port)
    return { ...service, port: isMoved ? undefined : port }
  })
  return { services: services.map((one) => byPorts(one, services)), ports, notToday: problems[0] }
}

/** Without Busbar there is no `http://catalog.internal`, which an import may have written. */
function byPorts(service: TodayService, all: readonly TodayService[]): TodayService {
  const env = Object.entries(service.env).map(([variable, value]) => [
    variable,
    value.replaceAll(internalUrl, (address, scheme: string, name: string) => {
      const port = all.find((one) => one.name === name)?.port
      return port === undefined ? address : `${scheme}://127.0.0.1:${port}`
    }),
  ])
  return { ...service, env: Object.fromEntries(env) as TodayService['env'] }
}

const internalUrl = /\b(http|ws):\/\/([a-z][a-z0-9-]*)\.internal\b(?![:.])/g

interface Described extends TodayService {
  /** It listens wherever `PORT` says. */
  readonly isMovable: boolean
  readonly problem: string | undefined
}

async function describe(service: Service, declared: number | undefined): Promise<Described> {
  const { name, kind, path: cwd, entry } = service
  const env = { ...service.env }
  const own = Number(env['PORT']) || undefined
  if (kind === 'command') {
    const { PORT: _, ...rest } = env
    const command = [entry.file, ...entry.args] as const
    const variables = { ...rest, PATH: searchPath(cwd, process.env['PATH']) }
    return { name, command, cwd, env: variables, port: declared, isMovable: declared === undefined, problem: undefined }
  }
  const nodeOptions = [...entry.nodeOptions, ...service.nodeOptions]
  const server = await findServer(entry.file, { folder: cwd, nodeOptions })
  const command = [process.execPath, ...nodeOptions, entry.file, ...entry.args] as const
  const isMovable = own === undefined && server.readsPort
  const problem =
    kind === 'typed'
      ? `${name} is a typed service, which only Busbar runs`
      : server.exportsOnly
        ? `${name} opens no port by itself`
        : undefined
  return { name, command: [...command], cwd, env, port: own ?? server.port ?? declared, isMovable, problem }
}

/** Where the config keeps the port that clients use. */
function portIn({ gateway, services = {} }: AppConfig, { name }: Service, entry: string): number | undefined {
  const service = services[name]
  if (name === entry && typeof gateway?.port === 'number') return gateway.port
  if (typeof service !== 'object') return undefined
  const [exposed] = [service.expose ?? service.port ?? []].flat()
  const port = typeof exposed === 'object' ? exposed.port : exposed
  return typeof port === 'number' ? port : undefined
}

/** Watt starts its applications itself. Undefined for others, and if it is not installed. */
async function wattToday({ kind, root, entry, config, found }: TodaySources): Promise<Today | undefined> {
  if (kind !== 'watt') return undefined
  const names = ['wattpm', 'watt', 'platformatic', 'plt']
  const program = await firstExistingFile(names.map((name) => join(root, 'node_modules/.bin', name)))
  if (program === undefined) return undefined
  const port = found[entry] ?? (typeof config.gateway?.port === 'number' ? config.gateway.port : undefined)
  const service: TodayService = { name: entry, command: [program, 'start'], cwd: root, env: {}, port }
  return { services: [service], ports: port === undefined ? {} : { [entry]: port }, notToday: undefined }
}
