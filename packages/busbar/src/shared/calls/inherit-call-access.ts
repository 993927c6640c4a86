/**
 * Gives the processes and threads that a program starts access to the app, whatever environment
 * they get, by replacing the public functions that start them. The program's own `env`,
 * `NODE_OPTIONS` and `execArgv` are kept.
 */
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { promisify } from 'node:util'
import workerThreads, { type WorkerOptions } from 'node:worker_threads'
import { callsVariable, hopsVariable, preloadModule, withPreload } from './call-access.ts'
import { copyFunctionProperties } from '../process/replace-property.ts'

/** What a process or thread started now inherits. */
export interface InheritedCallAccess {
  /** The value of {@link callsVariable}. */
  readonly access: string
  readonly hops: number
}

/**
 * Key of `worker.setEnvironmentData`, for threads whose environment lacks this or has an older hop
 * count.
 */
export const environmentKey = 'busbar.calls'

/**
 * `inherited` is called at each start; undefined if the code belongs to no service. Disposing
 * restores the functions.
 */
export function inheritCallAccess(inherited: () => InheritedCallAccess | undefined): Disposable {
  const replaced = new DisposableStack()
  for (const name of starters) replaced.use(replaceStarter(name, inherited))
  replaced.use(replaceWorker(inherited))
  syncBuiltinESMExports()
  return replaced
}

const starters = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const

type Starter = (...args: unknown[]) => unknown
type Env = Readonly<Record<string, string | undefined>>

function replaceStarter(name: (typeof starters)[number], inherited: () => InheritedCallAccess | undefined): Disposable {
  const module = childProcess as unknown as Record<string, Starter>
  const original = module[name]!
  const withCalls = (start: Starter): Starter =>
    function (this: unknown, ...args) {
      const calls = inherited()
      return Reflect.apply(start, this, calls === undefined ? args : withOptions(args, (env) => addTo(env, calls)))
    }
  const own: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(original)
  const promised = (original as { [promisify.custom]?: Starter })[promisify.custom]
  if (promised !== undefined)
    own[promisify.custom] = { value: copyFunctionProperties(withCalls(promised), promised), configurable: true }
  const replacement = Object.defineProperties(withCalls(original), own)
  module[name] = replacement
  return putBack(module, name, replacement, original)
}

/** All take `(file, args?, options?, callback?)`, or the same without `args`. */
function withOptions(args: readonly unknown[], change: (env: Env) => Env): unknown[] {
  const at = args.findIndex(
    (value, index) => index > 0 && typeof value === 'object' && value !== null && !Array.isArray(value),
  )
  const given = at < 0 ? {} : (args[at] as { env?: Env | null })
  const options = { ...given, env: change(given.env ?? process.env) }
  if (at >= 0) return args.with(at, options)
  // Inserts the options before the callback, in place of `undefined`.
  const callback = args.findIndex((value, index) => index > 0 && typeof value === 'function')
  const before = args
    .slice(0, callback < 0 ? args.length : callback)
    .filter((value) => value !== undefined && value !== null)
  return [...before, options, ...(callback < 0 ? [] : args.slice(callback))]
}

function addTo(env: Env, { access, hops }: InheritedCallAccess): Env {
  // An explicit value takes precedence.
  if (Object.hasOwn(env, callsVariable) && env[callsVariable] !== access) return env
  const own = { [callsVariable]: access, [hopsVariable]: String(hops) }
  return { ...env, ...own, NODE_OPTIONS: withPreload(env['NODE_OPTIONS']) }
}

/**
 * Environment data reaches every thread. The preload comes with `NODE_OPTIONS` in the environment.
 * An inherited environment is not replaced: an explicit `env` would make the thread lose inherited
 * flags. Only with a shared environment, the preload is an explicit flag.
 */
function replaceWorker(inherited: () => InheritedCallAccess | undefined): Disposable {
  const original = workerThreads.Worker
  const Worker = new Proxy(original, {
    construct(target, [filename, options = {}]: [unknown, WorkerOptions?], newTarget) {
      const calls = inherited()
      const construct = (changed: WorkerOptions): object => Reflect.construct(target, [filename, changed], newTarget)
      if (calls === undefined) return construct(options)
      const before = workerThreads.getEnvironmentData(environmentKey)
      workerThreads.setEnvironmentData(environmentKey, { ...calls })
      try {
        if (options.env === workerThreads.SHARE_ENV) return sharing(options, construct)
        return construct(options.env == null ? options : { ...options, env: addTo(options.env, calls) })
      } finally {
        workerThreads.setEnvironmentData(environmentKey, before)
      }
    },
  })
  workerThreads.Worker = Worker
  return putBack(workerThreads, 'Worker', Worker, original)
}

/**
 * A thread inherits process flags that are refused when passed explicitly; then it gets only the
 * preload.
 */
function sharing(options: WorkerOptions, construct: (options: WorkerOptions) => object): object {
  const flags = ['--require', preloadModule]
  if (options.execArgv !== undefined) return construct({ ...options, execArgv: [...options.execArgv, ...flags] })
  try {
    return construct({ ...options, execArgv: [...process.execArgv, ...flags] })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_INVALID_EXEC_ARGV') throw error
    return construct({ ...options, execArgv: flags })
  }
}

/** Does nothing if other code has replaced the function since; that code calls ours. */
function putBack(module: Record<string, unknown>, name: string, replacement: unknown, original: unknown): Disposable {
  return {
    [Symbol.dispose]() {
      if (module[name] !== replacement) return
      module[name] = original
      syncBuiltinESMExports()
    },
  }
}
