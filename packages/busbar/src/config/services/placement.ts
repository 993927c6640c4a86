import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import type { Placement, Service } from '../app.ts'
import type { ScalingRange, Supervision } from '../../shared/app/supervision.ts'
import type { ParsedConfig } from '../schema/app-schema.ts'
import type { ParsedService } from '../schema/service-schema.ts'
import { splitWords } from './start-script.ts'

/** Default of `queue`: calls that may wait for a service with `concurrency`. */
const defaultQueue = 256

/** Default of `grace` in milliseconds, the same as for `offload()`. */
const defaultGrace = 500

const needsConcurrency = 'Set concurrency as well: how many calls an instance handles at a time.'

/** Bytes that an empty thread (heap) or process (all memory) needs, rounded up. */
const minMemory = { thread: 16 * 1024 ** 2, process: 96 * 1024 ** 2 }

export interface PlacementContext {
  readonly name: string
  readonly kind: Service['kind']
  readonly config: ParsedService
  readonly app: Pick<ParsedConfig, 'defaults' | 'workers'>
  readonly root: string
  /** True if the app has no other service. */
  readonly alone: boolean
  /** From the command line. It overrides the config. */
  readonly override?: Placement['run'] | undefined
}

/**
 * Resolves where a service's instances run. Throws CONFIG_INVALID for keys that contradict each
 * other.
 */
export function resolvePlacement(context: PlacementContext): Placement & Pick<Supervision, 'scaling'> {
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
    ...instancesOf(run, run === 'shared' ? app.workers : (config.instances ?? 1)),
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

type Count = NonNullable<ParsedService['instances']>

/** The app's `scaling` is that of all shared services. */
function instancesOf(run: Placement['run'], count: Count): Pick<Placement & Supervision, 'instances' | 'scaling'> {
  const scaling = run === 'shared' ? undefined : scalingOf(count)
  return { instances: resolveCount(count), ...(scaling !== undefined && { scaling }) }
}

/** The range of a number that depends on load. */
export function scalingOf(count: Count): ScalingRange | undefined {
  return typeof count === 'object' ? { min: count.min, max: Math.max(count.min, resolveCount(count.max)) } : undefined
}

/**
 * A number of workers or instances. `auto`: one per processor that this process may use. Of a
 * range: the least.
 */
export function resolveCount(count: Count): number {
  if (typeof count === 'object') return count.min
  if (typeof count === 'number') return count
  return count === 'auto' ? availableParallelism() : Math.max(1, availableParallelism() - 1)
}

/** A service that cannot run where the command line wants it stays where the config puts it. */
function overriddenRunOf(context: PlacementContext): Placement['run'] {
  const { override, config } = context
  if (override === undefined) return runOf(context)
  const moved = { ...context, config: { ...config, run: override } }
  return contradictionsOf(moved, override).next().done ? override : runOf(context)
}

/**
 * Each program gets a thread of its own, since two programs in one thread share globals. Typed
 * services are plain modules and share threads. The service's own keys override `defaults`: `group`
 * implies threads, `command` a process.
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
  if (kind === 'typed' && config.args !== undefined)
    yield { key: 'args', why: 'a typed service has no arguments', hint: 'Leave args out, and use env.' }
  if (run === 'shared')
    for (const key of given(['group', 'instances', 'concurrency', 'spare', 'memory'])) yield { key, ...notShared[key]! }
  if (run === 'process' && config.group !== undefined)
    yield {
      key: 'group',
      why: "the services of a group share threads, but run is 'process'",
      hint: "Leave group out, or write run: 'thread'.",
    }
  if (run === 'process' && kind !== 'command' && config.spare === true)
    yield {
      key: 'spare',
      why: "only threads have spares, but run is 'process'",
      hint: "Leave spare out, or write run: 'thread'.",
    }
  if (config.group !== undefined && typeof config.instances === 'object')
    yield {
      key: 'instances',
      why: 'the services of a group share threads, which load cannot scale for one of them',
      hint: 'Give a number, or leave group out.',
    }
  if (run !== 'process')
    for (const key of given(['nodeOptions', 'permissions']))
      yield { key, why: `only a process can have its own, but run is '${run}'`, hint: "Write run: 'process'." }
  if (run !== 'shared' && config.memory !== undefined && config.memory < minMemory[run])
    yield {
      key: 'memory',
      why: `${config.memory} bytes are less than an empty ${run} needs`,
      hint: `Set ${minMemory[run] / 1024 ** 2}mb or more.`,
    }
  if (config.queue !== undefined && config.concurrency === undefined)
    yield { key: 'queue', why: 'without concurrency no call ever waits', hint: needsConcurrency }
  if (config.grace !== undefined && config.concurrency === undefined)
    yield { key: 'grace', why: 'without concurrency no thread is terminated for one call', hint: needsConcurrency }
}

function* ofCommand(
  config: ParsedService,
  given: (keys: readonly (keyof ParsedService)[]) => (keyof ParsedService)[],
): Generator<Contradiction> {
  if (config.run !== undefined && config.run !== 'process')
    yield {
      key: 'run',
      why: `a command runs in a process, but run is '${config.run}'`,
      hint: 'Leave run out, or replace command with the path of a Node program.',
    }
  for (const key of given([
    'entry',
    'args',
    'group',
    'concurrency',
    'spare',
    'memory',
    'nodeOptions',
    'permissions',
    'expose',
  ]))
    yield { key, why: 'a command cannot have it', hint: commandHints[key] ?? 'Leave it out.' }
  const most = typeof config.instances === 'object' ? config.instances.max : (config.instances ?? 1)
  if (config.port !== undefined && resolveCount(most) > 1)
    yield {
      key: 'port',
      why: 'only one of its instances can listen on it',
      hint: 'Leave port out: each instance gets a port of its own in the variable PORT.',
    }
}

const commandHints: Partial<Record<keyof ParsedService, string>> = {
  entry: 'Put the file to start into the command.',
  args: 'Put the arguments into the command.',
  nodeOptions: 'Write them into the command, or set NODE_OPTIONS in its env.',
  permissions: "Write Node's flags into the command.",
  expose: 'The program itself can listen on further ports.',
}

const notShared: Partial<Record<keyof ParsedService, Omit<Contradiction, 'key'>>> = {
  group: {
    why: "all shared services run in the same workers, and run is 'shared'",
    hint: "Leave group out, or write run: 'thread'.",
  },
  instances: {
    why: "each of the `workers` has a copy of a shared service, and run is 'shared'",
    hint: "Set `workers` of the app, or write run: 'thread'.",
  },
  concurrency: {
    why: "calls to a shared service are function calls and cannot be queued, and run is 'shared'",
    hint: "Write run: 'thread' or run: 'process'.",
  },
  spare: {
    why: "each of the `workers` can replace the others, and run is 'shared'",
    hint: "Set `workers` of the app, or write run: 'thread'.",
  },
  memory: {
    why: "all services of a shared worker use one heap, and run is 'shared'",
    hint: "Write run: 'thread' or run: 'process'.",
  },
}

function flagsOf(name: string, options: ParsedService['nodeOptions'] = []): readonly string[] {
  if (typeof options !== 'string') return options
  const words = options.trim() === '' ? [] : splitWords(options)
  if (words !== undefined) return words
  throw new BusbarError('CONFIG_INVALID', {
    service: name,
    message: `services.${name}.nodeOptions is ${JSON.stringify(options)}, which needs a shell`,
    hint: 'Write a list with one text per flag.',
  })
}
