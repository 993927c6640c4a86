import { ChildProcess, type StdioOptions } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import workerThreads from 'node:worker_threads'
import { withoutConnections } from '../../shared/child-stdio.ts'
import { replace } from '../../shared/replace.ts'
import type { Programs } from './programs.ts'

/** Gives each program its own `process.env` and `argv`, also where it starts threads and processes. */
export function patchEnvironment(programs: Programs, patches: DisposableStack): void {
  replace(patches, process, 'env', (base) => viewOf(() => programs.current?.env ?? base, textOnly))
  replace(patches, process, 'argv', (base) => viewOf(() => programs.current?.argv ?? base, Reflect.set, []))
  patchLoadEnvFile(programs, patches)
  patchChildren(programs, patches)
}

/** What Node's own `spawn`, `exec` and `fork` are made of. */
interface Spawned {
  stdio?: unknown[]
  spawn(this: Spawned, options: { stdio?: StdioOptions }): number
}

type Store = (target: object, key: string | symbol, value: unknown) => boolean

/** An object that is another one depending on who looks. 12 ns more a read than the real `process.env`. */
function viewOf<T extends object>(view: () => T, store: Store, shape: object = {}): T {
  return new Proxy(shape, {
    get: (_, key) => Reflect.get(view(), key),
    set: (_, key, value) => store(view(), key, value),
    has: (_, key) => Reflect.has(view(), key),
    deleteProperty: (_, key) => Reflect.deleteProperty(view(), key),
    ownKeys: () => Reflect.ownKeys(view()),
    getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(view(), key),
    defineProperty: (_, key, descriptor) => Reflect.defineProperty(view(), key, descriptor),
  }) as T
}

/** An environment holds text, whatever is assigned; a symbol throws, as it does in Node. */
function textOnly(target: object, key: string | symbol, value: unknown): boolean {
  if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string')
  return Reflect.set(target, key, String(value))
}

/** Node writes into the environment of the thread. What is in the program's own already wins over the file. */
function patchLoadEnvFile(programs: Programs, patches: DisposableStack): void {
  replace(patches, process, 'loadEnvFile', (load) => (path: Parameters<typeof load>[0] = '.env') => {
    const env = programs.current?.env
    if (env === undefined) return load(path)
    for (const [name, value] of Object.entries(parseEnv(readFileSync(path, 'utf8'))))
      if (value !== undefined) env[name] ??= value
  })
}

/**
 * Node gives a new thread the environment of the native store, and a new process the connections of all. What a program has for
 * its environment no other thread can share.
 */
function patchChildren(programs: Programs, patches: DisposableStack): void {
  replace(patches, workerThreads, 'Worker', (Worker) => {
    return class extends Worker {
      constructor(filename: string | URL, options: workerThreads.WorkerOptions = {}) {
        const env = programs.current?.env
        const isOwn = options.env != null && options.env !== workerThreads.SHARE_ENV
        super(filename, env === undefined || isOwn ? options : { ...options, env: { ...env } })
      }
    }
  })
  replace(patches, ChildProcess.prototype as unknown as Spawned, 'spawn', (spawn) => {
    return function (options) {
      const { stdio: named = 'pipe' } = options
      const result = withoutConnections(named, (stdio) => Reflect.apply(spawn, this, [{ ...options, stdio }]))
      // Of those that were added the program knows nothing.
      if (this.stdio !== undefined) this.stdio.length = Array.isArray(named) ? Math.max(3, named.length) : 3
      return result
    }
  })
}
