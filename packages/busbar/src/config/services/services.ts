import { basename, dirname, join, resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import type { Address, Placement, Service } from '../app.ts'
import { findContract, findConventional, findEntry, findTypedEntry, type FoundEntry } from './entry.ts'
import type { Doubles } from './doubles.ts'
import { commandEntry } from './command.ts'
import { readServiceEnv } from './environment.ts'
import type { Found } from '../locate.ts'
import { checkServiceName, toServiceName } from './names.ts'
import { readPackageFile } from '../file/package-file.ts'
import { kindOf, namesIn, nearestPath } from '../file/places.ts'
import { resolvePlacement } from './placement.ts'
import { publishedAt } from '../gateway/openapi.ts'
import type { Problems } from '../problems.ts'
import { checkCommandIsProgram } from './recursion.ts'
import type { ParsedConfig, ParsedService } from '../schema/schema.ts'

/** A service as it was listed or found, before anything of it was looked at. */
export interface ServiceSource {
  readonly name: string
  readonly config: ParsedService
}

export interface ServiceContext {
  readonly found: Found
  readonly config: ParsedConfig
  readonly env: NodeJS.ProcessEnv
  /** What the command line says over the config. */
  readonly run: Placement['run'] | undefined
  readonly doubles: Doubles
}

/** The services that the config lists; else those of `services/`; without a config, the one program. */
export async function listServices({ found, config }: ServiceContext, problems: Problems): Promise<ServiceSource[]> {
  if (found.kind === 'program') return [await theProgram(found.root, found.file)]
  const sources = config.services === undefined ? await discover(found.root) : listed(config.services)
  for (const { name } of sources) await problems.collect(() => checkServiceName(name, discoveredHint(config, name)))
  return sources
}

/**
 * Looks up what a service's config names, and fills what it leaves out. Throws the first thing that is wrong. `alone`:
 * there is no other in the app.
 */
export async function resolveService(source: ServiceSource, context: ServiceContext, alone: boolean): Promise<Service> {
  const { name, config } = source
  const { found, env: processEnv, run: override } = context
  const { defaults, stopTimeout } = context.config
  const {
    path,
    kind,
    found: { entry, script },
  } = await findModule(source, found.root)
  const env = await readServiceEnv({
    service: name,
    root: found.root,
    path,
    script,
    defaults,
    own: config,
    processEnv,
  })
  const openapi = publishedAt(kind, config, context.config)
  return {
    name,
    kind,
    ...resolvePlacement({ name, kind, config, app: context.config, root: found.root, alone, override }),
    path,
    entry,
    env,
    needs: [...new Set(config.needs ?? [])],
    startTimeout: config.startTimeout ?? defaults.startTimeout,
    stopTimeout: config.stopTimeout ?? defaults.stopTimeout ?? stopTimeout,
    expose: exposed(config.expose),
    port: config.port,
    ...(openapi !== undefined && { openapi }),
  }
}

function exposed(expose: ParsedService['expose'] = []): Address[] {
  return [expose].flat().map((one) => (typeof one === 'number' ? { host: '127.0.0.1', port: one } : one))
}

function listed(services: NonNullable<ParsedConfig['services']>): ServiceSource[] {
  return Object.entries(services).map(([name, service]) => ({
    name,
    config: typeof service === 'string' ? { path: service } : service,
  }))
}

async function theProgram(root: string, file: string | undefined): Promise<ServiceSource> {
  const name = (await readPackageFile(root))?.name?.replace(/^@[^/]*\//, '') ?? basename(root)
  return { name: toServiceName(name), config: { path: root, ...(file !== undefined && { entry: file }) } }
}

/** `services/*` with a `package.json` or an `index.*`; where there is none, the program that the config lies beside. */
async function discover(root: string): Promise<ServiceSource[]> {
  const folder = join(root, 'services')
  const names = (await namesIn(folder)).filter((name) => !name.startsWith('.') && name !== 'node_modules')
  const found: ServiceSource[] = []
  for (const name of names) {
    const path = join(folder, name)
    if ((await kindOf(path)) === 'folder' && (await isProgram(path))) found.push({ name, config: { path } })
  }
  return found.length === 0 && (await isProgram(root)) ? [await theProgram(root, undefined)] : found
}

async function isProgram(path: string): Promise<boolean> {
  return (
    (await kindOf(join(path, 'package.json'))) === 'file' || (await findConventional(path, ['index'])) !== undefined
  )
}

function discoveredHint(config: ParsedConfig, name: string): string | undefined {
  if (config.services !== undefined) return undefined
  return `Rename the folder services/${name}, or list it: services: { '${toServiceName(name)}': './services/${name}' }.`
}

interface FoundModule {
  readonly path: string
  readonly kind: Service['kind']
  readonly found: FoundEntry
}

async function findModule(source: ServiceSource, root: string): Promise<FoundModule> {
  const { name, config } = source
  if (config.path === undefined && config.command === undefined) throw nothingNamed(name)
  const path = resolve(root, config.path ?? '.')
  const kind = await kindOf(path)
  if (kind === 'missing') throw await notFound(name, path)
  const contract = config.path === undefined ? undefined : await findContract(path)
  if (config.command !== undefined) {
    checkCommandIsProgram(name, config.command, path, root)
    return { path, kind: 'command', found: commandEntry({ name, command: config.command, path, kind, contract }) }
  }
  // A folder with a contract is a typed service; a program is known by its file, too.
  if (contract !== undefined) return { path, kind: 'typed', found: await findTypedEntry(path, name, config.entry) }
  if (kind === 'folder') return { path, kind: 'program', found: await findEntry(path, name, config.entry) }
  if (config.entry === undefined) {
    const folder = dirname(path)
    return { path: folder, kind: 'program', found: await findEntry(folder, name, basename(path), 'path') }
  }
  throw new BusbarError('CONFIG_INVALID', {
    service: name,
    message: `services.${name} has an entry, but its path ${path} is a file already`,
    hint: 'Let path be the folder, or leave entry out.',
  })
}

function nothingNamed(name: string): BusbarError {
  return new BusbarError('CONFIG_INVALID', {
    service: name,
    message: `services.${name} has neither a path nor a command`,
    hint: 'Let path be its folder; a program that is not for Node has a command.',
  })
}

async function notFound(name: string, path: string): Promise<BusbarError> {
  const near = await nearestPath(path)
  return new BusbarError('SERVICE_NOT_FOUND', {
    service: name,
    message: `service ${name}: ${path} does not exist${near === undefined ? '' : `; the nearest is ${near}`}`,
    hint: near === undefined ? 'Paths are relative to the folder of the config.' : `Did you mean ${near}?`,
  })
}
