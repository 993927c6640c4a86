import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { debuggerFlags, findableFlag } from '../../shared/process/debugger-flags.ts'
import type { Permissions, Service } from '../../config/app.ts'
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
    ...inherited,
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
 * Not inherited: code on the command line, a debugger's port, the test runner and its reporters,
 * and files of variables, which the environment has already.
 */
const ofThisProcess =
  /^(?:-e|-p|-pe|-c|-i|--(?:eval|print|check|interactive|input-type|inspect|test|experimental-test|watch|env-file|run)\b.*)$/

/** Flags that name modules, by a path or a URL. */
const namingModules = /^(?:--import|--loader|--experimental-loader)$/
/** Flags that name files. */
const namingFiles = /^(?:-r|--require|--experimental-config-file)$/

const forModules = /^(?:-r|-C|--(?:require|import|loader|experimental-loader|conditions))$/

/**
 * Flags of this process. Relative paths become absolute, because a service's process starts in the
 * service's folder. Read when this module is loaded: the supervisor may change the working
 * directory.
 */
const usable = grouped(process.execArgv)
  .filter(([flag]) => !ofThisProcess.test(flag!))
  .map(withAbsolutePaths)
const inherited = usable.flat()

/**
 * The `execArgv` of threads. Undefined: a thread inherits all flags of this process. If that fails,
 * a thread gets those that decide which modules are loaded: Node refuses a module as the entry of a
 * thread under `--input-type`, and relative paths depend on the working directory.
 */
export const threadFlags: string[] | undefined =
  inherited.every((flag) => process.execArgv.includes(flag)) &&
  !process.execArgv.some((flag) => flag.startsWith('--input-type'))
    ? undefined
    : usable.filter(([flag]) => forModules.test(flag!.split('=', 1)[0]!)).flat()

/** A word without a dash is the value of the flag before it. */
function grouped(words: readonly string[]): string[][] {
  const flags: string[][] = []
  for (const word of words)
    if (word.startsWith('-')) flags.push([word])
    else flags.at(-1)?.push(word)
  return flags
}

function withAbsolutePaths([flag, ...values]: readonly string[]): string[] {
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(flag!) ?? []
  if (name !== undefined) return [`${name}=${absolutePath(name, value!)}`]
  return [flag!, ...values.map((one) => absolutePath(flag!, one))]
}

function absolutePath(flag: string, value: string): string {
  if (!/^\.\.?[/\\]/.test(value)) return value
  if (namingModules.test(flag)) return new URL(value, pathToFileURL(`${process.cwd()}/`)).href
  return namingFiles.test(flag) ? resolve(value) : value
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
