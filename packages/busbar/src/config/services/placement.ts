import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { isOwnAddress } from '../gateway/addresses.ts'
import type { Address, Placement, Service } from '../app.ts'
import { laterKeys } from '../schema/later.ts'
import { isPlainObject } from '../schema/placeholders.ts'
import type { Problems } from '../problems.ts'
import type { ParsedConfig, ParsedService } from '../schema/schema.ts'
import { splitWords } from './start-script.ts'

/** How many calls may wait for a service with a `concurrency`, where its `queue` says nothing. */
const defaultQueue = 256

/** Milliseconds for which a call may go on in a thread when it is over, where `grace` says nothing: those of `offload()`. */
const defaultGrace = 500

const needsConcurrency = 'Give concurrency as well: how many calls an instance takes at a time.'

const mostWorkers = 1024

/** What an empty one takes already, rounded up: the heap of a thread, all of a process. */
const leastMemory = { thread: 16 * 1024 ** 2, process: 96 * 1024 ** 2 }

export interface PlacementContext {
  readonly name: string
  readonly kind: Service['kind']
  readonly config: ParsedService
  readonly app: Pick<ParsedConfig, 'defaults' | 'workers'>
  readonly root: string
  /** An app of one program shares its thread with nobody. */
  readonly alone: boolean
  /** What the command line says over the config. */
  readonly override?: Placement['run'] | undefined
}

/** Where a service's instances run. Throws CONFIG_INVALID where what it says cannot be had together. */
export function resolvePlacement(context: PlacementContext): Placement {
  const { name, config, root, app } = context
  const run = overriddenRunOf(context)
  const contradiction = contradictionsOf(context, run).next().value
  if (contradiction !== undefined)
    throw new BusbarError('CONFIG_INVALID', {
      service: name,
      message: `services.${name}.${contradiction.key}: ${contradiction.why}`,
      hint: contradiction.hint,
    })
  const { permissions } = config
  const absolute = (paths: readonly string[] = []): string[] => paths.map((path) => resolve(root, path))
  return {
    run,
    group: config.group,
    instances: countOf(run === 'shared' ? app.workers : (config.instances ?? 1)),
    concurrency: config.concurrency,
    queue: config.queue ?? defaultQueue,
    grace: config.grace ?? defaultGrace,
    spare: config.spare ?? false,
    memory: config.memory,
    nodeOptions: flagsOf(name, config.nodeOptions),
    permissions: permissions && {
      read: absolute(permissions.read),
      write: absolute(permissions.write),
      allow: permissions.allow ?? [],
    },
  }
}

/** A number of workers or instances; `auto` is one for each processor that this process may use. */
export function countOf(count: number | 'auto' | 'cpus-1'): number {
  if (typeof count === 'number') return count
  return count === 'auto' ? availableParallelism() : Math.max(1, availableParallelism() - 1)
}

/** What only shows when all services are known. */
export function checkPlaces(services: readonly Service[], workers: number, problems: Problems): void {
  for (const [group, members] of Map.groupBy(services, ({ group }) => group)) {
    const silent = members.filter(({ memory }) => memory === undefined)
    if (group === undefined || silent.length === 0 || silent.length === members.length) continue
    problems.add('CONFIG_INVALID', {
      message: `services.${silent[0]!.name} has no memory, and others of its group ${group} have: the heap of their thread is the sum`,
      hint: 'Give each service of the group a memory, or none.',
    })
  }
  const threadsOf = ({ run, instances, spare }: Service): number => (run === 'shared' ? 0 : instances * (spare ? 2 : 1))
  const places = services.reduce((sum, service) => sum + threadsOf(service), workers)
  if (places > mostWorkers)
    problems.add('CONFIG_INVALID', {
      message: `the app would have ${places} threads and processes; ${mostWorkers} are allowed`,
      hint: 'Lower workers, or the instances of its services.',
    })
}

/** What `remote` says is told by {@link checkRemotes}; such a service has no folder to look into. */
export function isRemote(said: unknown, name: string): boolean {
  const service = isPlainObject(said) && isPlainObject(said['services']) ? said['services'][name] : undefined
  return isPlainObject(service) && service['remote'] !== undefined
}

/** `remote` is refused as well; at the app's own address it would be a loop in any version. */
export function checkRemotes(said: unknown, gateway: Address, services: readonly Service[], problems: Problems): void {
  const entries = isPlainObject(said) && isPlainObject(said['services']) ? Object.entries(said['services']) : []
  for (const [name, service] of entries) {
    if (!isRemote(said, name)) continue
    const { remote } = service as { remote: unknown }
    if (typeof remote === 'string' && isOwnAddress(remote, gateway, services))
      problems.add('ROUTE_LOOP', {
        message: `services.${name}.remote is ${remote}, where this app itself answers: calls to ${name} would come back in`,
        hint: 'Give the address of another app, or the folder of the service.',
      })
    else
      problems.add('PLACEMENT_UNSUPPORTED', {
        message: `services.${name}.remote: this version does not have \`remote\` yet`,
        hint: laterKeys['remote']!,
      })
  }
}

/** A service that cannot be where the command line wants all of them stays where it is. */
function overriddenRunOf(context: PlacementContext): Placement['run'] {
  const { override, config } = context
  if (override === undefined) return runOf(context)
  const moved = { ...context, config: { ...config, run: override } }
  return contradictionsOf(moved, override).next().done ? override : runOf(context)
}

/**
 * Programs run in a thread each, since two in one thread share globals; typed services are plain modules and share.
 * What a service says of itself weighs more than `defaults`: a group is of threads, a command is a process.
 */
function runOf({ config, kind, app, alone }: PlacementContext): Placement['run'] {
  if (config.run !== undefined) return config.run
  if (kind === 'command') return 'process'
  if (config.group !== undefined) return 'thread'
  return app.defaults.run ?? (kind === 'typed' || alone ? 'shared' : 'thread')
}

interface Contradiction {
  readonly key: keyof ParsedService
  readonly why: string
  readonly hint: string
}

function* contradictionsOf({ config, kind }: PlacementContext, run: Placement['run']): Generator<Contradiction> {
  const given = (keys: readonly (keyof ParsedService)[]) =>
    keys.filter((key) => config[key] !== undefined && config[key] !== false)
  if (kind === 'command') yield* ofCommand(config, given)
  if (run === 'shared')
    for (const key of given(['group', 'instances', 'concurrency', 'spare', 'memory'])) yield { key, ...shared[key]! }
  if (run === 'process' && config.group !== undefined)
    yield {
      key: 'group',
      why: "a group shares threads, and run is 'process'",
      hint: "Leave group out, or write run: 'thread'.",
    }
  if (run === 'process' && kind !== 'command' && config.spare === true)
    yield {
      key: 'spare',
      why: "only a thread has another one behind it, and run is 'process'",
      hint: "Leave spare out, or write run: 'thread'.",
    }
  if (run !== 'process')
    for (const key of given(['nodeOptions', 'permissions']))
      yield { key, why: `a thread cannot have its own, and run is '${run}'`, hint: "Write run: 'process'." }
  if (run !== 'shared' && config.memory !== undefined && config.memory < leastMemory[run])
    yield {
      key: 'memory',
      why: `${config.memory} bytes are less than a ${run} takes by itself`,
      hint: `Give ${leastMemory[run] / 1024 ** 2}mb or more.`,
    }
  if (config.queue !== undefined && config.concurrency === undefined)
    yield { key: 'queue', why: 'nothing ever waits without a concurrency', hint: needsConcurrency }
  if (config.grace !== undefined && config.concurrency === undefined)
    yield { key: 'grace', why: 'no thread is ended for one call without a concurrency', hint: needsConcurrency }
}

function* ofCommand(
  config: ParsedService,
  given: (keys: readonly (keyof ParsedService)[]) => (keyof ParsedService)[],
): Generator<Contradiction> {
  if (config.run !== undefined && config.run !== 'process')
    yield {
      key: 'run',
      why: `a command is a process, and run is '${config.run}'`,
      hint: 'Leave run out, or give path to a Node program instead of a command.',
    }
  for (const key of given(['entry', 'group', 'concurrency', 'spare', 'memory', 'nodeOptions', 'permissions', 'expose']))
    yield { key, why: 'a command cannot have it', hint: noCommand[key] ?? 'Leave it out.' }
  if (config.port !== undefined && countOf(config.instances ?? 1) > 1)
    yield {
      key: 'port',
      why: 'only one of its instances can listen on it',
      hint: 'Leave port out: each instance gets its own in the variable PORT.',
    }
}

const noCommand: Partial<Record<keyof ParsedService, string>> = {
  entry: 'The command says what to start.',
  nodeOptions: 'Write them into the command, or set NODE_OPTIONS in its env.',
  permissions: 'Write Node’s flags into the command.',
  expose: 'Let the program itself listen on further ports.',
}

const shared: Partial<Record<keyof ParsedService, Omit<Contradiction, 'key'>>> = {
  group: {
    why: "all shared services are in the same workers, and run is 'shared'",
    hint: "Leave group out, or write run: 'thread'.",
  },
  instances: {
    why: "each of the `workers` has a copy of a shared service, and run is 'shared'",
    hint: "Set `workers` of the app, or write run: 'thread'.",
  },
  concurrency: {
    why: "calls to a shared service are function calls, which nothing holds back, and run is 'shared'",
    hint: "Write run: 'thread' or run: 'process'.",
  },
  spare: {
    why: "each of the `workers` stands in for the others, and run is 'shared'",
    hint: "Set `workers` of the app, or write run: 'thread'.",
  },
  memory: {
    why: "a shared worker's heap is that of all its services, and run is 'shared'",
    hint: "Write run: 'thread' or run: 'process'.",
  },
}

function flagsOf(name: string, options: ParsedService['nodeOptions'] = []): readonly string[] {
  if (typeof options !== 'string') return options
  const words = options.trim() === '' ? [] : splitWords(options)
  if (words !== undefined) return words
  throw new BusbarError('CONFIG_INVALID', {
    service: name,
    message: `services.${name}.nodeOptions is ${JSON.stringify(options)}, which takes a shell to understand`,
    hint: 'Write a list: one text for each flag.',
  })
}
