import { realpathSync } from 'node:fs'
import {
  type LoadFnOutput,
  type LoadHookSync,
  registerHooks,
  type ResolveFnOutput,
  type ResolveHookSync,
} from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Service } from '../../../config/app.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { currentScope } from '../../../mesh/scope.ts'

/**
 * Loads the ES modules of a folder once per service, if several services of one thread have the
 * same folder. Node alone would load them once. The first service keeps plain module URLs, so an
 * app without such a folder pays nothing. For the others, each ES module of the folder gets
 * `?service=<name>` on its URL. Modules in `node_modules` and outside the folder are shared.
 *
 * Node caches CommonJS by file name, without a query. The config gives services with CommonJS
 * threads of their own (`config/services/shared-folders.ts`). CommonJS that it did not see is
 * refused here, so that no state is shared: for all of these services, because Node calls no hook
 * when the same module requires the same file again.
 */
export function isolateSecondCopies(services: readonly Service[], patches: DisposableStack): void {
  const copies = secondCopies(services)
  if (copies.size === 0) return
  patches.adopt(registerHooks({ resolve: resolveFor(copies), load: loadCopy }), (hooks) => hooks.deregister())
}

/** By service: the URL prefix of the folder whose modules it needs for itself. */
type Copies = ReadonlyMap<string, string>

const parameter = 'service'

function secondCopies(services: readonly Service[]): Copies {
  const seen = new Set<string>()
  const copies = new Map<string, string>()
  for (const { name, path } of services) {
    const folder = realpathSync(path)
    if (seen.has(folder)) copies.set(name, `${pathToFileURL(folder).href}/`)
    seen.add(folder)
  }
  return copies
}

function resolveFor(copies: Copies): ResolveHookSync {
  return (specifier, context, next) => {
    const result = next(specifier, context)
    if (!context.conditions.includes('import')) return refuseRequired(result, copies)
    const service = serviceOf(context.parentURL) ?? currentScope()?.service
    const folder = service === undefined ? undefined : copies.get(service)
    if (service === undefined || folder === undefined || !isInFolder(folder, result.url)) return result
    const url = new URL(result.url)
    url.searchParams.set(parameter, service)
    return { ...result, url: url.href }
  }
}

/** JSON is allowed: libraries read a program's package.json by `require`. */
function refuseRequired(result: ResolveFnOutput, copies: Copies): ResolveFnOutput {
  if (result.url.endsWith('.json')) return result
  for (const [service, folder] of copies) if (isInFolder(folder, result.url)) throw commonJsShared(service, result.url)
  return result
}

/** The service of an importing copy. Its imports stay in the copy even without an async context. */
function serviceOf(parentURL: string | undefined): string | undefined {
  if (parentURL === undefined || !parentURL.includes(`${parameter}=`)) return undefined
  return new URL(parentURL).searchParams.get(parameter) ?? undefined
}

function isInFolder(prefix: string, url: string): boolean {
  return url.startsWith(prefix) && !url.includes('/node_modules/', prefix.length - 1)
}

/**
 * Removes the query from `import.meta.url`: programs compare it with `process.argv[1]` and build
 * paths from it.
 */
const loadCopy: LoadHookSync = (url, context, next) => {
  const result = next(url, context)
  const service = serviceOf(url)
  if (service === undefined) return result
  if (result.format !== 'json' && result.format !== 'wasm' && !isEsModule(result.format))
    throw commonJsShared(service, url)
  if (!isEsModule(result.format)) return result
  const plain = pathToFileURL(fileURLToPath(url)).href
  return { ...result, source: withPrologue(textOf(result.source), `import.meta.url=${JSON.stringify(plain)};`) }
}

function commonJsShared(service: string, url: string): BusbarError {
  return new BusbarError('PLACEMENT_UNSUPPORTED', {
    service,
    message: `service '${service}': ${fileURLToPath(url)} is loaded as CommonJS, which a thread loads only once, and another service of the thread has the same folder`,
    hint: `Set services.${service}.run to 'thread'.`,
  })
}

export function isEsModule(format: string | null | undefined): boolean {
  return format === 'module' || format === 'module-typescript'
}

export function textOf(source: LoadFnOutput['source']): string {
  if (typeof source === 'string') return source
  return source === undefined || source === null ? '' : Buffer.from(source as Uint8Array).toString()
}

/**
 * Inserts a statement that sets a property of `import.meta` into a module that mentions it. Line
 * numbers stay the same. Columns of line 1 move, unless it is a hashbang, which is replaced.
 */
export function withPrologue(source: string, prologue: string): string {
  if (!source.includes('import.meta')) return source
  return prologue + source.replace(/^#!.*/, '')
}
