import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Permissions, Service } from '../../config/app.ts'

/**
 * Of a process's memory, the part that its heap may grow to. Beside it there are Node itself, its buffers, and the space for
 * young objects; a heap that might take all would let garbage lie until the limit ends the process.
 */
const heapShare = 0.6

/**
 * The flags of Node that a service's process starts with: this process's own (a loader of its sources, a condition), those of
 * `scripts.start`, the limits, and what the config says, which wins.
 */
export function flagsOf({ entry, memory, permissions, nodeOptions, path }: Service, root: string): string[] {
  return [
    ...process.execArgv.filter(isInherited),
    ...entry.nodeOptions.filter((flag) => !flag.startsWith('--watch')),
    ...(memory === undefined ? [] : [`--max-old-space-size=${Math.floor((memory * heapShare) / 1024 ** 2)}`]),
    ...(permissions === undefined ? [] : permissionFlags(permissions, [root, path])),
    ...nodeOptions,
  ]
}

/** Not what was to be run in place of a file, and not a debugger's port, which is taken. */
function isInherited(flag: string, index: number, flags: readonly string[]): boolean {
  const isCode =
    /^(?:-e|-p|-pe|--eval|--print)$/.test(flag) || /^(?:-e|-p|-pe|--eval|--print)$/.test(flags[index - 1] ?? '')
  return !isCode && !/^--(?:inspect|test|watch)\b/.test(flag)
}

/**
 * Besides what the config allows: to read the app, and Busbar with what it is made of; and the network, which a service lives on.
 * Node 24 leaves it open, Node 26 has a flag for it.
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

/** The package, and the `node_modules` that its dependencies lie in. */
function busbarFolders(): string[] {
  const own = fileURLToPath(new URL('../../..', import.meta.url))
  const resolved = ['pino', 'zod'].map((name) => fileURLToPath(import.meta.resolve(name)))
  return [own, ...resolved.map((file) => file.slice(0, file.lastIndexOf('node_modules') + 'node_modules'.length))]
}

/** A path that is not there yet has none. */
function realPathOf(path: string): string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return []
  }
}
