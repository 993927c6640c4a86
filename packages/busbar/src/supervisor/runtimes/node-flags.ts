import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { debuggerFlags, findableFlag } from '../../shared/process/debugger-flags.ts'
import type { Permissions, Service } from '../../config/app.ts'
import { inheritedFlags } from '../../shared/process/inherited-flags.ts'
import { packageFile } from '../../shared/package-files.ts'

/**
 * The share of a process's memory limit that its heap may use. The rest is for Node itself, buffers
 * and the young generation. A larger heap would postpone garbage collection until the limit ends
 * the process.
 */
const heapShare = 0.6

/**
 * The Node flags of a service's process: those of this process (a loader, a condition), those of
 * `scripts.start`, the limits, and those of the config, which win.
 */
export function flagsOf(service: Service, root: string, isInspected: boolean): string[] {
  const { entry, memory, permissions, nodeOptions, path } = service
  const hasDebugger = [...entry.nodeOptions, ...nodeOptions].some((flag) => flag.startsWith('--inspect'))
  return [
    ...inheritedFlags,
    ...(hasDebugger ? [] : debuggerFlags),
    ...(isInspected ? [findableFlag] : []),
    ...entry.nodeOptions.filter((flag) => !flag.startsWith('--watch')),
    ...(memory === undefined ? [] : [`--max-old-space-size=${Math.floor((memory * heapShare) / 1024 ** 2)}`]),
    ...(permissions === undefined ? [] : permissionFlags(permissions, [root, path])),
    ...nodeOptions,
  ]
}

/** Whether Node may differ in this service's process: its flags may load modules that change it. */
export function hasOwnNode({ entry, nodeOptions, permissions, env }: Service): boolean {
  const { NODE_OPTIONS: common } = process.env
  const { NODE_OPTIONS: own = common } = env
  return entry.nodeOptions.length + nodeOptions.length > 0 || permissions !== undefined || own !== common
}

/**
 * In addition to the permissions of the config: reading the app, Busbar and its dependencies, and
 * the network. Node 24 does not restrict the network, Node 26 has a flag for it.
 */
function permissionFlags({ read, write, allow }: Permissions, own: readonly string[]): string[] {
  const readable = new Set(
    [...own, ...busbarFolders(), ...read, ...write].flatMap((path) => [path, ...realPathOf(path)]),
  )
  return [
    '--permission',
    ...[...readable].map((path) => `--allow-fs-read=${path}`),
    ...write.map((path) => `--allow-fs-write=${path}`),
    ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
    ...allow.map((name) => `--allow-${name}`),
  ]
}

/** The package, and the `node_modules` of its dependencies. */
function busbarFolders(): string[] {
  const own = fileURLToPath(packageFile('.'))
  const resolved = ['pino-pretty', 'zod'].map((name) => fileURLToPath(import.meta.resolve(name)))
  return [own, ...resolved.map((file) => file.slice(0, file.lastIndexOf('node_modules') + 'node_modules'.length))]
}

/** Empty for a path that does not exist yet. */
function realPathOf(path: string): string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return []
  }
}
