import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { queueService } from '../../contract/queues/queue-service.ts'
import type { ClusterConfig, RemoteService } from '../../shared/hosts.ts'
import type { MethodQueueSettings, QueueSettings } from '../../shared/queues.ts'
import type { Service } from '../app.ts'
import { nearest } from '../nearest.ts'
import type { Problems } from '../problems.ts'
import type { ParsedConfig } from '../schema/app-schema.ts'
import { unconfigured } from '../services/unconfigured.ts'

export interface QueuesContext {
  readonly root: string
  readonly config: ParsedConfig
  /** The services of this app. */
  readonly services: readonly Service[]
  /** Services of other apps. */
  readonly remotes?: readonly RemoteService[] | undefined
  /** Undefined: the app is in none. */
  readonly cluster?: ClusterConfig | undefined
}

/** Undefined if the app has no queue. */
export function resolveQueues(context: QueuesContext, problems: Problems): QueueSettings | undefined {
  const { root, config, services, cluster, remotes = [] } = context
  const { queues } = config
  if (queues === undefined) return undefined
  const { file, window, maxDepth, maxSize, keepDead, methods, ...usual } = queues
  if (services.some(({ name }) => name === queueService))
    problems.add('CONFIG_INVALID', {
      service: queueService,
      message: `a service is named ${queueService}, which is the name of the service that owns the queue`,
      hint: 'Give it another name.',
    })
  const names = services.filter(({ kind }) => kind === 'typed').map(({ name }) => name)
  for (const target of Object.keys(methods)) checkTarget(target, names, remotes, problems)
  const settings = Object.entries(methods).map(([target, own]) => [target, withDefaults(own, usual)] as const)
  for (const [target, { backoff, maxBackoff }] of [['', usual] as const, ...settings])
    if (backoff > maxBackoff)
      problems.add('CONFIG_INVALID', {
        message: `queues${target && `.methods.${target}`}: backoff is ${backoff} ms, longer than maxBackoff, ${maxBackoff} ms`,
        hint: 'Raise maxBackoff.',
      })
  const path = resolve(root, file)
  if (cluster === undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    problems.add('CONFIG_INVALID', {
      message: `queues.file: ${path} is a folder`,
      hint: 'Give the path of a file. It is created if there is none.',
    })
  return {
    place: cluster === undefined ? { is: 'file', path } : { is: 'streams', cluster, services: names, left: path },
    window,
    maxDepth,
    maxSize,
    keepDead,
    usual,
    methods: Object.fromEntries(settings),
  }
}

type Given = NonNullable<ParsedConfig['queues']>['methods'][string]

function withDefaults(own: Given, usual: MethodQueueSettings): MethodQueueSettings {
  return {
    attempts: own.attempts ?? usual.attempts,
    backoff: own.backoff ?? usual.backoff,
    maxBackoff: own.maxBackoff ?? Math.max(usual.maxBackoff, own.backoff ?? 0),
    timeout: own.timeout ?? usual.timeout,
    concurrency: own.concurrency ?? usual.concurrency,
  }
}

/**
 * An app that only enqueues may have the same `queues` as those that run the items. `typed`: the
 * services of this app.
 */
function checkTarget(
  target: string,
  typed: readonly string[],
  remotes: readonly RemoteService[],
  problems: Problems,
): void {
  const [service = '', method = '', more] = target.split('.')
  const known = [...typed, ...remotes.flatMap(({ name, inCluster }) => (inCluster === true ? [name] : []))]
  if (known.includes(service) && method !== '' && more === undefined) return
  const elsewhere = remotes.some(({ name, inCluster }) => name === service && inCluster !== true)
  const near = nearest(service, known)
  problems.add('CONFIG_INVALID', {
    message: `queues.methods names ${JSON.stringify(target)}, which is not a method of a typed service of this app or its cluster${near === undefined || near === service ? '' : `; the nearest service is ${near}`}`,
    hint: elsewhere
      ? `Leave it out: only services of this app and those with remote: 'cluster' can be enqueued.`
      : `Write '<service>.<method>'${near === undefined ? '.' : `, such as '${near}.send'.`}`,
  })
}

/**
 * The services with the one that owns the queue, which starts before all others and stops after
 * them. It is part of Busbar, and runs in a thread of its own: a commit blocks its thread.
 */
export function withQueueService(
  services: readonly Service[],
  queue: QueueSettings | undefined,
  { defaults, stopTimeout }: ParsedConfig,
): readonly Service[] {
  if (queue === undefined) return services
  const owner: Service = {
    ...unconfigured,
    name: queueService,
    kind: 'typed',
    queueSettings: queue,
    run: 'thread',
    path: dirname(import.meta.filename),
    entry: { file: import.meta.filename, args: [], nodeOptions: [], foundBy: 'queues' },
    startTimeout: defaults.startTimeout,
    stopTimeout,
  }
  // A command and a test double can enqueue nothing.
  const enqueues = ({ kind, double }: Service): boolean => kind !== 'command' && double !== true
  return [owner, ...services.map((one) => (enqueues(one) ? withQueue(one, queue) : one))]
}

function withQueue(service: Service, { methods }: QueueSettings): Service {
  const queuedMethods = Object.keys(methods).filter((name) => name.startsWith(`${service.name}.`))
  return { ...service, needs: [...service.needs, queueService], ...(queuedMethods.length > 0 && { queuedMethods }) }
}

/** Whether a service is part of Busbar, and not one of the app's own. */
export function isInternal({ queueSettings }: Pick<Service, 'queueSettings'>): boolean {
  return queueSettings !== undefined
}
