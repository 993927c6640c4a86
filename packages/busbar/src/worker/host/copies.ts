import { realpathSync } from 'node:fs'
import Module, { registerHooks } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Service } from '../../config/app.ts'
import { currentScope } from '../../mesh/scope.ts'
import { replace } from '../../shared/replace.ts'

/**
 * A folder that is configured as several services of one thread is loaded once for each, though Node would load it once. The first
 * one keeps plain module URLs and Node's own cache, so that an app without such a folder pays nothing. For the others:
 *
 * - an ES module of the folder gets `?service=<name>` on its URL, whoever imports it and whenever;
 * - a CommonJS module of the folder is kept in a cache of its own: Node drops a query from its file name, but looks
 *   into `Module._cache` anew for each `require()`, and the scope says who requires.
 *
 * Modules in `node_modules` and outside of the folder stay one for all.
 */
export function isolateSecondCopies(services: readonly Service[], patches: DisposableStack): void {
  const copies = secondCopies(services)
  if (copies.size === 0) return
  patches.adopt(registerHooks({ resolve: resolveFor(copies), load: loadPlain }), (hooks) => hooks.deregister())
  const internals = Module as unknown as ModuleInternals
  replace(patches, internals, '_cache', (cache) => cacheFor(copies, cache))
  replace(patches, internals.prototype, '_compile', (compile) => compileFor(copies, compile))
}

/** By service: the folder whose modules it needs for itself. */
type Copies = ReadonlyMap<string, Folder>
type ModuleCache = Record<string, NodeJS.Module | undefined>
type Compile = (source: string, file: string, format: string | undefined) => unknown

/** Both are looked up for each module, and patched by many: `require.cache`, `pirates`. */
interface ModuleInternals {
  _cache: ModuleCache
  readonly prototype: { _compile: Compile }
}

interface Folder {
  readonly prefix: string
  readonly urlPrefix: string
}

const parameter = 'service'

function secondCopies(services: readonly Service[]): Copies {
  const seen = new Set<string>()
  const copies = new Map<string, Folder>()
  for (const { name, path } of services) {
    const folder = realpathSync(path)
    if (seen.has(folder)) copies.set(name, folderOf(folder))
    seen.add(folder)
  }
  return copies
}

function folderOf(path: string): Folder {
  return { prefix: path + sep, urlPrefix: `${pathToFileURL(path).href}/` }
}

function resolveFor(copies: Copies): Module.ResolveHookSync {
  return (specifier, context, next) => {
    const result = next(specifier, context)
    // A `require()` loses the query again; it is told apart by its cache.
    if (!context.conditions.includes('import')) return result
    const service = serviceOf(context.parentURL) ?? currentScope()?.service
    const folder = service === undefined ? undefined : copies.get(service)
    if (service === undefined || folder === undefined || !isOf(folder.urlPrefix, result.url)) return result
    const url = new URL(result.url)
    url.searchParams.set(parameter, service)
    return { ...result, url: url.href }
  }
}

/** A copy's own imports stay in the copy, also where the async context was lost. */
function serviceOf(parentURL: string | undefined): string | undefined {
  if (parentURL === undefined || !parentURL.includes(`${parameter}=`)) return undefined
  return new URL(parentURL).searchParams.get(parameter) ?? undefined
}

function isOf(prefix: string, place: string): boolean {
  return place.startsWith(prefix) && !place.includes('/node_modules/', prefix.length - 1)
}

/** `import.meta.url` without the query: programs compare it with `process.argv[1]` and build paths from it. */
const loadPlain: Module.LoadHookSync = (url, context, next) => {
  const result = next(url, context)
  if (serviceOf(url) === undefined || !isModule(result.format)) return result
  const source = textOf(result.source)
  if (!source.includes('import.meta')) return result
  const plain = pathToFileURL(fileURLToPath(url)).href
  return { ...result, source: withPrologue(source, `import.meta.url=${JSON.stringify(plain)};`) }
}

export function isModule(format: string | null | undefined): boolean {
  return format === 'module' || format === 'module-typescript'
}

export function textOf(source: Module.LoadFnOutput['source']): string {
  if (typeof source === 'string') return source
  return source === undefined || source === null ? '' : Buffer.from(source as Uint8Array).toString()
}

/** Puts a statement before the first one: on the same line, so that all others keep their numbers. */
export function withPrologue(source: string, prologue: string): string {
  if (!source.startsWith('#!')) return prologue + source
  const end = source.indexOf('\n') + 1
  return end === 0 ? source : source.slice(0, end) + prologue + source.slice(end)
}

function cacheFor(copies: Copies, base: ModuleCache): ModuleCache {
  const own = new Map([...copies.keys()].map((service) => [service, Object.create(null) as ModuleCache]))
  const cacheOf = (key: string | symbol): ModuleCache => {
    const service = currentScope()?.service
    const folder = service === undefined ? undefined : copies.get(service)
    if (folder === undefined || typeof key !== 'string' || !isFileOf(folder.prefix, key)) return base
    return own.get(service!)!
  }
  return new Proxy(base, {
    get: (_, key) => Reflect.get(cacheOf(key), key) as unknown,
    set: (_, key, value) => Reflect.set(cacheOf(key), key, value),
    has: (_, key) => Reflect.has(cacheOf(key), key),
    deleteProperty: (_, key) => Reflect.deleteProperty(cacheOf(key), key),
    getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(cacheOf(key), key),
    defineProperty: (_, key, descriptor) => Reflect.defineProperty(cacheOf(key), key, descriptor),
  })
}

/**
 * An ES module that is required is kept by the URL of its file name, which gets the service's name. Where it is also
 * imported, there are two of it in this copy, for `import` knows it by a query.
 */
function compileFor(copies: Copies, compile: Compile): Compile {
  return function (this: unknown, source, file, format) {
    const service = currentScope()?.service
    const folder = service === undefined ? undefined : copies.get(service)
    if (folder === undefined || !isModule(format) || !isFileOf(folder.prefix, file)) {
      return Reflect.apply(compile, this, [source, file, format])
    }
    const meta = { url: pathToFileURL(file).href, filename: file, dirname: dirname(file) }
    const prologue = `Object.assign(import.meta,${JSON.stringify(meta)});`
    return Reflect.apply(compile, this, [withPrologue(source, prologue), `${file}?${parameter}=${service}`, format])
  }
}

function isFileOf(prefix: string, file: string): boolean {
  return file.startsWith(prefix) && !file.includes(join(sep, 'node_modules', sep), prefix.length - 1)
}
