import { basename, dirname, join, resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import type { Address, Placement, Service } from '../app.ts'
import {
  checkReadable,
  findContract,
  findConventional,
  findEntry,
  findTypedEntry,
  type FoundEntry,
  permitHint,
} from './entry.ts'
import { checkBuilt, findBuild, notBuilt } from './build.ts'
import type { TestDoubles } from './test-doubles.ts'
import { commandEntry } from './command.ts'
import { readServiceEnv } from './environment.ts'
import type { AppLocation } from '../locate.ts'
import { readPackageJson } from '../file/package-json.ts'
import { pathKind, listFolder, closestPath, whyUnlistable } from '../file/file-lookup.ts'
import { resolvePlacement } from './placement.ts'
import { resolveSupervision } from './supervision.ts'
import { openApiPathOf } from '../gateway/openapi.ts'
import type { Problems } from '../problems.ts'
import { checkCommandIsProgram } from './nested-app.ts'
import { toServiceName } from './service-name.ts'
import type { ParsedConfig } from '../schema/app-schema.ts'
import type { ParsedService } from '../schema/service-schema.ts'

/** A service of the config or of the folder `services/`, before its files are read. */
export interface ServiceSource {
  readonly name: string
  readonly config: ParsedService
}

export interface ServiceContext {
  readonly found: AppLocation
  readonly config: ParsedConfig
  readonly env: NodeJS.ProcessEnv
  /** From the command line. It overrides the config. */
  readonly run: Placement['run'] | undefined
  /** By service: where it runs, as it was chosen while the app ran. It overrides all others. */
  readonly placements: Readonly<Record<string, PlacementOverride>>
  readonly doubles: TestDoubles
  /** Accepts services that are not built yet. */
  readonly unbuilt: boolean
}

export interface PlacementOverride {
  readonly run: Placement['run']
  /** Undefined for a shared service. */
  readonly instances: number | undefined
}

/**
 * The services of the config, else those of the folder `services/`. Without a config, the one
 * program.
 */
export async function listServices({ found, config }: ServiceContext, problems: Problems): Promise<ServiceSource[]> {
  if (found.kind === 'program') return [await theProgram(found.root, found.file)]
  const sources = config.services === undefined ? await discover(found.root) : listed(config.services)
  for (const { name } of sources) await problems.collect(() => checkServiceName(name, discoveredHint(config, name)))
  return sources
}

/**
 * Resolves the files of a service and fills in defaults. `alone`: the app has no other service.
 * Throws a BusbarError for the first problem.
 */
export async function resolveService(source: ServiceSource, context: ServiceContext, alone: boolean): Promise<Service> {
  const { name } = source
  const { found, env: processEnv, placements, unbuilt } = context
  const config = { ...source.config, ...placements[name] }
  const override = placements[name] === undefined ? context.run : undefined
  const { defaults, stopTimeout } = context.config
  const {
    path,
    kind,
    found: { entry, script },
  } = await findModule(source, found.root, unbuilt)
  const env = await readServiceEnv({
    service: name,
    root: found.root,
    path,
    script,
    defaults,
    own: config,
    processEnv,
  })
  const build = await findBuild({ service: name, path, config })
  if (!unbuilt) await checkBuilt({ service: name, path, config })
  const openapi = openApiPathOf(kind, config, context.config)
  return {
    name,
    kind,
    ...resolvePlacement({ name, kind, config, app: context.config, root: found.root, alone, override }),
    path,
    entry: config.args === undefined ? entry : { ...entry, args: config.args },
    env,
    needs: [...new Set(config.needs ?? [])],
    startTimeout: config.startTimeout ?? defaults.startTimeout,
    stopTimeout: config.stopTimeout ?? defaults.stopTimeout ?? stopTimeout,
    expose: exposedPorts(config.expose),
    port: config.port,
    ...(config.localhost !== undefined && { localhost: [config.localhost].flat() }),
    ...resolveSupervision({ name, kind, config }),
    ...(config.pathTemplates !== undefined && { pathTemplates: config.pathTemplates }),
    ...(config.sticky !== undefined && { sticky: config.sticky }),
    ...(openapi !== undefined && { openapi }),
    ...(build !== undefined && { build }),
  }
}

function exposedPorts(expose: ParsedService['expose'] = []): Address[] {
  return [expose].flat().map((one) => (typeof one === 'number' ? { host: '127.0.0.1', port: one } : one))
}

function listed(services: NonNullable<ParsedConfig['services']>): ServiceSource[] {
  return Object.entries(services).map(([name, service]) => ({
    name,
    config: typeof service === 'string' ? { path: service } : service,
  }))
}

async function theProgram(root: string, file: string | undefined): Promise<ServiceSource> {
  const name = (await readPackageJson(root))?.name?.replace(/^@[^/]*\//, '') ?? basename(root)
  return { name: toServiceName(name), config: { path: root, ...(file !== undefined && { entry: file }) } }
}

/**
 * Folders `services/*` with a `package.json` or an `index.*`; else the program in the config's own
 * folder.
 */
async function discover(root: string): Promise<ServiceSource[]> {
  const folder = join(root, 'services')
  await checkListable(folder)
  const names = (await listFolder(folder)).filter((name) => !name.startsWith('.') && name !== 'node_modules')
  const found: ServiceSource[] = []
  for (const name of names) {
    const path = join(folder, name)
    if ((await pathKind(path)) !== 'folder') continue
    await checkReadable('SERVICE_NOT_FOUND', name, path)
    if (await isProgram(path)) found.push({ name, config: { path } })
  }
  return found.length === 0 && (await isProgram(root)) ? [await theProgram(root, undefined)] : found
}

/** Its services would be missing, and nothing would say so. */
async function checkListable(folder: string): Promise<void> {
  const reason = await whyUnlistable(folder)
  if (reason === undefined) return
  throw new BusbarError('SERVICE_NOT_FOUND', {
    message: `${folder}, whose folders are the services of an app, cannot be read: ${reason}`,
    hint: permitHint,
  })
}

async function isProgram(path: string): Promise<boolean> {
  return (
    (await pathKind(join(path, 'package.json'))) === 'file' || (await findConventional(path, ['index'])) !== undefined
  )
}

function discoveredHint(config: ParsedConfig, name: string): string | undefined {
  if (config.services !== undefined) return undefined
  return `Rename the folder services/${name}, or list it: services: { '${toServiceName(name)}': './services/${name}' }.`
}

/**
 * A DNS label, since services have the address `http://<name>.internal` (RFC 1035 2.3.1, RFC 1123
 * 2.1).
 */
const dnsLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

function checkServiceName(name: string, hint?: string): void {
  if (dnsLabel.test(name)) return
  throw new BusbarError('SERVICE_NAME_INVALID', {
    message: `${JSON.stringify(name)} cannot be the name of a service: use a-z, 0-9 and inner hyphens, 63 characters at most`,
    hint: hint ?? `Call it ${toServiceName(name)}.`,
  })
}

interface FoundModule {
  readonly path: string
  readonly kind: Service['kind']
  readonly found: FoundEntry
}

/** A service that has a build, and no entry yet, is not built. */
async function findModule(source: ServiceSource, root: string, unbuilt: boolean): Promise<FoundModule> {
  try {
    return await findBuiltModule(source, root)
  } catch (error) {
    const { name, config } = source
    if (!BusbarError.is(error) || error.code !== 'SERVICE_ENTRY_NOT_FOUND') throw error
    const path = resolve(root, config.path ?? '.')
    if ((await findBuild({ service: name, path, config })) === undefined) throw error
    if (!unbuilt) throw notBuilt(name, error.message.replace(/^service '[^']*': /, ''), error)
    const entry = { file: path, args: [], nodeOptions: [], foundBy: 'not built' }
    return { path, kind: 'program', found: { entry, script: undefined } }
  }
}

async function findBuiltModule(source: ServiceSource, root: string): Promise<FoundModule> {
  const { name, config } = source
  if (config.path === undefined && config.command === undefined) throw noPathOrCommand(name)
  const path = resolve(root, config.path ?? '.')
  const kind = await pathKind(path)
  await checkReadable('SERVICE_NOT_FOUND', name, path)
  if (kind === 'missing') throw await notFound(name, path)
  const contract = config.path === undefined ? undefined : await findContract(path)
  if (config.command !== undefined) {
    checkCommandIsProgram(name, config.command, path, root)
    return { path, kind: 'command', found: commandEntry({ name, command: config.command, path, kind, contract }) }
  }
  // A contract in the folder makes it a typed service. A program may also be given by its file.
  if (contract !== undefined) return { path, kind: 'typed', found: await findTypedEntry(path, name, config.entry) }
  if (kind === 'folder') return { path, kind: 'program', found: await findEntry(path, name, config.entry) }
  if (config.entry === undefined) {
    const folder = dirname(path)
    return { path: folder, kind: 'program', found: await findEntry(folder, name, basename(path), 'path') }
  }
  throw new BusbarError('CONFIG_INVALID', {
    service: name,
    message: `services.${name} has an entry, but its path ${path} is a file`,
    hint: 'Set path to the folder, or leave entry out.',
  })
}

function noPathOrCommand(name: string): BusbarError {
  return new BusbarError('CONFIG_INVALID', {
    service: name,
    message: `services.${name} has neither a path nor a command`,
    hint: 'Set path to its folder, or command for a program that is not for Node.',
  })
}

async function notFound(name: string, path: string): Promise<BusbarError> {
  const near = await closestPath(path)
  return new BusbarError('SERVICE_NOT_FOUND', {
    service: name,
    message: `service '${name}': ${path} does not exist${near === undefined ? '' : `; the nearest is ${near}`}`,
    hint: near === undefined ? 'Paths are relative to the folder of the config.' : `Did you mean ${near}?`,
  })
}
