import { basename, join, resolve } from 'node:path'
import { BusbarError } from '../contract/errors.ts'
import { checkPorts } from './gateway/addresses.ts'
import type { App, Placement, Service } from './app.ts'
import { deepFreeze } from './freeze.ts'
import { resolveGateway } from './gateway/gateway.ts'
import { findInterceptors } from './interceptors.ts'
import { checkLimits } from './limits.ts'
import { type Found, locateApp } from './locate.ts'
import { separateCopies } from './services/copies.ts'
import { checkDoubles, doubleOf, type Doubles } from './services/doubles.ts'
import { orderByNeeds } from './services/needs.ts'
import { readPackageFile } from './file/package-file.ts'
import { checkPlaces, checkRemotes, countOf, isRemote } from './services/placement.ts'
import { checkSpares } from './services/spares.ts'
import { fillPlaceholders, isPlainObject } from './schema/placeholders.ts'
import { Problems } from './problems.ts'
import { readConfig } from './file/read.ts'
import { listServices, resolveService, type ServiceContext } from './services/services.ts'
import { declaredNames, parseConfig } from './schema/validate.ts'
import type { ParsedConfig } from './schema/schema.ts'
import {
  acceleratorNames,
  type AcceleratorName,
  acceleratorsVariable,
  defaultAccelerators,
  optIn,
  parseAccelerators,
} from '../shared/accelerators.ts'

export interface LoadOptions {
  /** Fills the placeholders. Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv
  /** What the command line says over the config. */
  readonly overrides?: Overrides
  /** Services that are not loaded, since a test double answers in their place: `typed` if it implements a contract. */
  readonly doubles?: Doubles
}

export interface Overrides {
  readonly workers?: number | 'auto'
  readonly port?: number
  readonly host?: string
  /** Where every service runs that can be there; another stays where the config has it. */
  readonly run?: Placement['run']
}

/**
 * Loads the app at `place`: a folder with a config, a config, or a single Node program as its folder or its file.
 * What is returned has every default filled, every path absolute, services in the order they start, and is frozen.
 *
 * Throws a BusbarError. As many problems as can be told apart are told at once: then its code is that of the first,
 * its message lists all, and `cause.errors` has each.
 */
export async function loadApp(
  place: string,
  { env = process.env, overrides = {}, doubles = new Map() }: LoadOptions = {},
): Promise<App> {
  const found = await locateApp(resolve(place))
  const problems = new Problems(found.kind === 'config' ? found.file : found.root)
  const said = found.kind === 'config' ? await readConfig(found.file, { env, root: found.root }) : {}
  const filled = fillPlaceholders(withOverrides(said, overrides), env, problems)
  const config = parseConfig(filled, problems)
  const app = config && (await resolveApp({ found, config, env, run: overrides.run, doubles }, filled, problems))
  problems.throwIfAny()
  return deepFreeze(app!)
}

async function resolveApp(context: ServiceContext, filled: unknown, problems: Problems): Promise<App> {
  const { found, config, env } = context
  const sources = (await listServices(context, problems)).filter(({ name }) => !isRemote(filled, name))
  const names = [...new Set([...sources.map(({ name }) => name), ...declaredNames(filled)])]
  if (names.length === 0) problems.addFrom(nothingToRun(context))
  checkDoubles(context.doubles, names, problems)
  checkLimits(config, problems)
  const resolved: Service[] = []
  for (const source of sources) {
    const double = context.doubles.get(source.name)
    const service =
      double === undefined
        ? await problems.collect(() => resolveService(source, context, names.length === 1))
        : doubleOf(source, context, double)
    if (service !== undefined) resolved.push(service)
  }
  const needing = sources.map(({ name, config: { needs = [] } }) => ({
    name,
    needs: context.doubles.has(name) ? [] : needs,
  }))
  const order = orderByNeeds(needing, names, problems)
  const services = await separateCopies(
    resolved.toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name)),
  )
  const gateway = await resolveGateway({ root: found.root, config, env, names, services }, problems)
  checkPorts({ gateway, admin: config.admin }, services, problems)
  const workers = countOf(config.workers)
  checkPlaces(services, workers, problems)
  checkSpares({ accept: config.accept, gateway, services }, problems)
  checkRemotes(filled, gateway, services, problems)
  return {
    root: found.root,
    name: await nameOf(found),
    configFile: found.kind === 'config' ? found.file : undefined,
    workers,
    accept: config.accept,
    accelerators: chosenAccelerators(config, env, problems),
    gateway,
    ...(config.admin !== undefined && { admin: config.admin }),
    services,
    limits: config.limits,
    interceptors: await problems.collect(() => findInterceptors(found.root, config.interceptors)),
    validate: config.validate,
    stopTimeout: config.stopTimeout,
    maxRestarts: config.maxRestarts,
  }
}

/** The environment's word goes over the config's, as for a machine on which one of them is in doubt. */
function chosenAccelerators(
  { accelerators, gateway: { batchWrites } }: ParsedConfig,
  env: NodeJS.ProcessEnv,
  problems: Problems,
): readonly AcceleratorName[] {
  const override = env[acceleratorsVariable]
  const said = override ?? accelerators
  const chosen = typeof said === 'string' ? parseAccelerators(said) : said
  if (override === undefined && batchWrites === true) return [...new Set([...chosen!, optIn])]
  if (chosen === undefined)
    problems.add('CONFIG_INVALID', {
      message: `${acceleratorsVariable} is ${JSON.stringify(said)}, which is neither "all" nor "none" nor a list of accelerators`,
      hint: `Accelerators are ${acceleratorNames.join(', ')}.`,
    })
  return chosen ?? defaultAccelerators
}

function nothingToRun({ found, config }: ServiceContext): BusbarError {
  const where =
    config.services === undefined
      ? `${join(found.root, 'services')} has no folder with a package.json or an index.*`
      : 'services is empty'
  return new BusbarError('CONFIG_INVALID', {
    message: `the app has no service: ${where}`,
    hint: "List them: services: { web: './web' }.",
  })
}

async function nameOf({ root }: Found): Promise<string> {
  return (await readPackageFile(root))?.name ?? basename(root)
}

/** Only what was given: an absent override leaves what the config says. */
function withOverrides(said: unknown, { workers, port, host }: Overrides): unknown {
  if (!isPlainObject(said)) return said
  const address = { ...(port !== undefined && { port }), ...(host !== undefined && { host }) }
  const gateway = said['gateway'] ?? {}
  return {
    ...said,
    ...(workers !== undefined && { workers }),
    ...(isPlainObject(gateway) && { gateway: { ...gateway, ...address } }),
  }
}
