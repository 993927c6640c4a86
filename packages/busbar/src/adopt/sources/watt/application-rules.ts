/** What becomes of the keys of an application in `watt.json` (schema of wattpm 3). */
import { isPlainObject } from '../../../config/schema/placeholders.ts'
import { toServiceName } from '../../../config/services/service-name.ts'
import type { ServiceDraft } from '../../imported.ts'
import { type KeyRules, type KeyOutcome, textsOf } from '../../key-rules.ts'
import { wattText, wattVariables } from './watt-text.ts'
import { entryText } from '../../launch/launch.ts'
import { relative } from 'node:path'

export interface WattApplication {
  readonly service: ServiceDraft
  /** Absolute. */
  readonly folder: string
  /** Of the config. */
  readonly root: string
}

export const applicationRules: KeyRules<WattApplication> = {
  id: ({ service }) => ({ to: `services.${service.name}` }),
  path: ({ service }) => to(service, 'path'),
  enabled: () => ({ to: 'the default' }),
  config: 'its own file is read, and its keys are listed below',
  url: 'Busbar clones no repositories; the folder is there already',
  gitBranch: 'Busbar clones no repositories',
  useHttp: 'every client reaches a service by http://<name>.internal, whatever carries the call',
  websocket: 'WebSockets work by name and through the gateway anyway',
  reuseTcpPorts: 'the app has `accept` for this',
  workers: ({ service }, value) => workers(service, value),
  health: ({ service }, value) => health(service, value),
  restartOnError: 'Busbar restarts at once, then with growing delays up to 30 s',
  dependencies: ({ service }, value) => {
    service.config.needs = textsOf(value).map(toServiceName)
    return to(service, 'needs')
  },
  arguments: ({ service }, value) => {
    service.config.args = textsOf(value).map(wattText)
    return to(service, 'args')
  },
  env: ({ service }, value) => {
    service.config.env = { ...service.config.env, ...wattVariables(value) }
    return to(service, 'env')
  },
  envfile: ({ service, folder, root }, value) => {
    service.config.envFile = relative(root, `${folder}/${String(value)}`)
    return to(service, 'envFile')
  },
  nodeOptions: ({ service }, value) => flags(service, textsOf(value), 'nodeOptions'),
  execArgv: ({ service }, value) => flags(service, textsOf(value), 'nodeOptions'),
  preload: ({ service, folder }, value) => {
    const files = Array.isArray(value) ? value.map(String) : [String(value)]
    return flags(
      service,
      files.flatMap((file) => ['--import', /^[\w@]/.test(file) ? file : entryText(folder, `${folder}/${file}`)]),
      'nodeOptions',
    )
  },
  sourceMaps: ({ service }, value) =>
    value === true
      ? flags(service, ['--enable-source-maps'], 'nodeOptions')
      : { to: 'the default: source maps are off' },
  permissions: ({ service }, value) => {
    const fs = isPlainObject(value) && isPlainObject(value['fs']) ? value['fs'] : {}
    service.config.run = 'process'
    service.config.permissions = { read: textsOf(fs['read']), write: textsOf(fs['write']) }
    return to(service, 'permissions', 'only a process has permissions of its own')
  },
  nodeModulesSourceMaps: 'Node has one switch for all source maps',
  packageManager: 'Busbar installs nothing',
  telemetry: 'Busbar writes no traces; a program may load its own instrumentation (--import in scripts.start)',
  compileCache: 'Busbar sets no compile cache; NODE_COMPILE_CACHE in its environment does',
  management: 'programs cannot reach the supervisor; use the admin socket',
}

/** Watt: a number, or a range that follows the load. */
export function workers(service: ServiceDraft, value: unknown): KeyOutcome {
  if (isPlainObject(value)) {
    const { static: fixed, minimum, maximum } = value
    if (fixed !== undefined) return workers(service, fixed)
    if (typeof maximum !== 'number') return { why: 'it has no maximum' }
    service.config.instances = { min: typeof minimum === 'number' ? minimum : 1, max: maximum }
    return to(service, 'instances', 'Busbar decides by its own measure of load')
  }
  const count = Number(value)
  if (!Number.isInteger(count) || count < 1) return { why: 'it is not a number of threads' }
  if (count > 1) service.config.instances = count
  return count > 1 ? to(service, 'instances') : { to: 'the default' }
}

function health(service: ServiceDraft, value: unknown): KeyOutcome {
  const heap = isPlainObject(value) ? value['maxHeapTotal'] : undefined
  const size = typeof heap === 'number' ? heap : sizeOf(heap)
  if (size === undefined)
    return { why: 'Busbar replaces a thread that does not answer, and checks health by a path (`health`)' }
  service.config.memory = Math.max(size, 16 * 1024 ** 2)
  return to(service, 'memory', 'from maxHeapTotal; the other limits have no counterpart')
}

function sizeOf(value: unknown): number | undefined {
  const [, amount, unit = ''] = /^(\d+)\s*([KMG]?)B$/i.exec(String(value)) ?? []
  if (amount === undefined) return undefined
  return Number(amount) * 1024 ** ' KMG'.indexOf(unit.toUpperCase() || ' ')
}

function flags(service: ServiceDraft, words: readonly string[], key: string): KeyOutcome {
  if (words.length === 0) return { to: 'the default' }
  service.config.run = 'process'
  const { nodeOptions = [] } = service.config
  service.config.nodeOptions = [...(Array.isArray(nodeOptions) ? nodeOptions : [nodeOptions]), ...words.map(wattText)]
  return to(service, key, 'only a process has flags of its own')
}

function to({ name }: ServiceDraft, key: string, note?: string): KeyOutcome {
  return { to: `services.${name}.${key}`, ...(note !== undefined && { note }) }
}
