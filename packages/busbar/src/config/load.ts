import { basename, join, resolve } from 'node:path'
import { BusbarError } from '../contract/errors.ts'
import {
  acceleratorNames,
  type AcceleratorName,
  acceleratorsVariable,
  defaultAccelerators,
  optInAccelerator,
  parseAccelerators,
} from '../shared/accelerators.ts'
import {
  checkEntrance,
  checkGroups,
  checkLimits,
  checkLocalPorts,
  checkRanges,
  checkRaw,
  checkSpares,
  checkThreadCount,
} from './app-checks.ts'
import type { App, Placement, Service, LogSettings } from './app.ts'
import { applyEnvironment } from './environments.ts'
import { closestPath, pathKind } from './file/file-lookup.ts'
import { readPackageJson } from './file/package-json.ts'
import { readConfig } from './file/read-config.ts'
import { resolveGateway } from './gateway/gateway.ts'
import { checkPorts } from './gateway/listen-addresses.ts'
import { type AppLocation, locateApp } from './locate.ts'
import { resolveHosts } from './cluster/hosts.ts'
import { isRemote } from './own-names.ts'
import { resolveOtlp } from './otlp.ts'
import { Problems } from './problems.ts'
import { resolveQueues, withQueueService } from './cluster/queues.ts'
import { resolveSchedule } from './schedule.ts'
import type { ParsedConfig } from './schema/app-schema.ts'
import { fillPlaceholders, isPlainObject } from './schema/placeholders.ts'
import { declaredNames, parseConfig } from './schema/validate.ts'
import { resolveCount, scalingOf } from './services/placement.ts'
import { listServices, type PlacementOverride, resolveService, type ServiceContext } from './services/services.ts'
import { separateSharedFolders } from './services/shared-folders.ts'
import { orderByNeeds } from './services/start-order.ts'
import { checkTestDoubles, testDoubleService, type TestDoubles } from './services/test-doubles.ts'
import { logFiles } from './schema/logs-schema.ts'

export interface LoadOptions {
  /** Variables for the placeholders. Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv
  /** Values from the command line. They override the config. */
  readonly overrides?: Overrides
  /** What was changed while the app ran. It overrides the config and `overrides`. */
  readonly placements?: Placements
  /** Services that a test double replaces. Their code is not loaded. */
  readonly doubles?: TestDoubles
  /** Accepts services that are not built yet. Their entries may be missing. Default: false. */
  readonly unbuilt?: boolean
  /**
   * Whether the app starts here. If not, variables of services may need what is only there where it
   * does, and are left out. Default: true.
   */
  readonly starts?: boolean
}

export interface Overrides {
  readonly workers?: number | 'auto'
  readonly port?: number
  readonly host?: string
  /** The name of one of the config's environments, which is merged over the config. */
  readonly env?: string
  /** Where every service runs that can run there. The others stay where the config puts them. */
  readonly run?: Placement['run']
}

/** Where services run, as `scale` and `move` have changed it. */
export interface Placements {
  /** The number of shared workers. */
  readonly workers?: number
  /** By name. */
  readonly services?: Readonly<Record<string, PlacementOverride>>
}

/**
 * Loads the app at `location`: the folder of a config, a config file, or one Node program (its
 * folder or its file). The result has all defaults and absolute paths, lists services in start
 * order, and is frozen.
 *
 * Throws a BusbarError. It reports as many problems as it can find in one run: the code is that of
 * the first one, the message lists all, and `cause.errors` holds them.
 */
export async function loadApp(location: string, options: LoadOptions = {}): Promise<App> {
  const { env = process.env, overrides = {}, placements = {}, doubles = new Map() } = options
  const { unbuilt = false, starts = true } = options
  const found = await locateApp(resolve(location))
  const problems = new Problems(found.kind === 'config' ? found.file : found.root)
  const raw = found.kind === 'config' ? await readConfig(found.file, { env, root: found.root }) : {}
  const chosen = applyEnvironment(raw, overrides.env, problems)
  const sources = { env, root: found.root, secrets: problems.secrets, starts }
  const placed = { ...overrides, ...workersOf(placements) }
  const filled = fillPlaceholders(withOverrides(chosen, placed), sources, problems)
  const config = parseConfig(filled, problems)
  const { services = {} } = placements
  const context = config && { found, config, env, run: overrides.run, placements: services, doubles, unbuilt }
  const app = context && (await resolveApp(context, filled, problems))
  problems.throwIfAny()
  return deepFreeze(app!)
}

async function resolveApp(context: ServiceContext, filled: unknown, problems: Problems): Promise<App> {
  const { found, config, env } = context
  const sources = (await listServices(context, problems)).filter(
    ({ name }) => context.doubles.has(name) || !isRemote(config, name),
  )
  const own = sources.map(({ name }) => name)
  const names = [...new Set([...sources.map(({ name }) => name), ...declaredNames(filled)])]
  if (names.length === 0) problems.addFrom(noServices(context))
  checkTestDoubles(context.doubles, names, problems)
  checkLimits(config, problems)
  checkRanges(config, problems)
  const resolved: Service[] = []
  for (const source of sources) {
    const double = context.doubles.get(source.name)
    const service =
      double === undefined
        ? await problems.collect(() => resolveService(source, context, names.length === 1))
        : testDoubleService(source.name, double, found.root, config)
    // A service of another app does not delay a start: it may come and go.
    if (service !== undefined) resolved.push(withOwnNeeds(service, own))
  }
  const needs = sources.map(({ name, config: { needs = [] } }) => ({
    name,
    needs: context.doubles.has(name) ? [] : needs,
  }))
  const order = orderByNeeds(needs, names, problems)
  const services = await separateSharedFolders(
    resolved.toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name)),
  )
  const gateway = await resolveGateway({ root: found.root, config, env, names, own, services }, problems)
  checkLocalPorts(services, problems)
  const workers = resolveCount(config.workers)
  const scaling = scalingOf(config.workers)
  checkEntrance(config, problems)
  checkRaw({ gateway, services }, problems)
  checkGroups(services, problems)
  checkThreadCount(services, workers, problems)
  checkSpares({ accept: config.accept, gateway, services }, problems)
  const hosts = await resolveHosts({ root: found.root, config, gateway, services }, problems)
  checkPorts({ gateway, admin: config.admin, exported: hosts.export }, services, problems)
  const queue = resolveQueues({ root: found.root, config, services, ...hosts }, problems)
  return {
    root: found.root,
    ...(await namesOf(found)),
    configFile: found.kind === 'config' ? found.file : undefined,
    workers,
    ...(scaling !== undefined && { scaling }),
    accept: config.accept,
    accelerators: chooseAccelerators(config, env, problems),
    gateway,
    ...(config.admin !== undefined && { admin: config.admin }),
    services: withQueueService(services, queue, config),
    ...hosts,
    limits: config.limits,
    schedule: await resolveSchedule({ root: found.root, config, services, names }, problems),
    secrets: [
      ...problems.secrets,
      ...(config.admin === undefined ? [] : [config.admin.token]),
      ...(hosts.cluster?.password === undefined ? [] : [hosts.cluster.password]),
      ...Object.values(config.otlp?.headers ?? {}),
    ],
    ...(config.traces !== undefined && { traces: config.traces }),
    ...(config.otlp !== undefined && { otlp: resolveOtlp(found.root, config, problems) }),
    logs: resolveLogs(found.root, config, problems),
    interceptors: await problems.collect(() => findInterceptors(found.root, config.interceptors)),
    validate: config.validate,
    stopTimeout: config.stopTimeout,
    ...(config.trial !== undefined && { trial: config.trial }),
    slowStart: config.slowStart,
    maxRestarts: config.maxRestarts,
    stableAfter: config.stableAfter,
    startConcurrency: config.startConcurrency,
    stopDelay: config.stopDelay,
  }
}

function withOwnNeeds(service: Service, own: readonly string[]): Service {
  const remoteNeeds = service.needs.filter((need) => !own.includes(need))
  const needs = service.needs.filter((need) => own.includes(need))
  return { ...service, needs, ...(remoteNeeds.length > 0 && { remoteNeeds }) }
}

/** The environment overrides the config, to test one machine without editing the app. */
function chooseAccelerators(
  { accelerators, gateway: { batchWrites } }: ParsedConfig,
  env: NodeJS.ProcessEnv,
  problems: Problems,
): readonly AcceleratorName[] {
  const override = env[acceleratorsVariable]
  const value = override ?? accelerators
  const chosen = typeof value === 'string' ? parseAccelerators(value) : value
  if (override === undefined && batchWrites === true) return [...new Set([...chosen!, optInAccelerator])]
  if (chosen === undefined)
    problems.add('CONFIG_INVALID', {
      message: `${acceleratorsVariable} is ${JSON.stringify(value)}, which is neither "all" nor "none" nor a list of accelerators`,
      hint: `Accelerators are ${acceleratorNames.join(', ')}.`,
    })
  return chosen ?? defaultAccelerators
}

async function findInterceptors(root: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  const file = resolve(root, path)
  if ((await pathKind(file)) === 'file') return file
  const near = await closestPath(file)
  throw new BusbarError('CONFIG_INVALID', {
    message: `interceptors: there is no file ${file}${near === undefined ? '' : `; the nearest is ${near}`}`,
    hint: 'Give the path of the module with its extension, relative to the folder of the config.',
  })
}

function noServices({ found, config }: ServiceContext): BusbarError {
  const where =
    config.services === undefined
      ? `${join(found.root, 'services')} has no folder with a package.json or an index.*`
      : 'services is empty'
  return new BusbarError('CONFIG_INVALID', {
    message: `the app has no service: ${where}`,
    hint: "List them: services: { web: './web' }.",
  })
}

async function namesOf({ root }: AppLocation): Promise<Pick<App, 'name' | 'version'>> {
  const { name = basename(root), version } = (await readPackageJson(root)) ?? {}
  return { name, ...(version !== undefined && { version }) }
}

/** An override that is undefined leaves the value of the config. */
function withOverrides(raw: unknown, { workers, port, host }: Overrides): unknown {
  if (!isPlainObject(raw)) return raw
  const address = { ...(port !== undefined && { port }), ...(host !== undefined && { host }) }
  const gateway = raw['gateway'] ?? {}
  return {
    ...raw,
    ...(workers !== undefined && { workers }),
    ...(isPlainObject(gateway) && { gateway: { ...gateway, ...address } }),
  }
}

function workersOf({ workers }: Placements): Overrides {
  return workers === undefined ? {} : { workers }
}

/** Freezes plain objects and arrays in place. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}

/** One file that is written, one that is compressed, and its compressed copy. */
const leastFiles = 3

/** Makes the folder absolute, and fills in defaults where only the folder is given. */
function resolveLogs(root: string, { logs }: ParsedConfig, problems: Problems): LogSettings {
  const { stdout, rate, redact = [] } = logs
  const files = typeof logs.files === 'string' ? logFiles.parse({ folder: logs.files }) : logs.files
  if (files === undefined) return { stdout, rate, redact, files }
  if (files.maxTotal < leastFiles * files.maxSize)
    problems.add('CONFIG_INVALID', {
      message: `logs.files.maxTotal is ${files.maxTotal} bytes, and must be at least ${leastFiles} times maxSize, which is ${files.maxSize}`,
      hint: 'Raise maxTotal, or lower maxSize.',
    })
  return { stdout, rate, redact, files: { ...files, folder: resolve(root, files.folder) } }
}
