import { realpathSync } from 'node:fs'
import {
  type LoadFnOutput,
  type LoadHookSync,
  registerHooks,
  type ResolveFnOutput,
  type ResolveHookSync,
} from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Service } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import { currentScope } from '../../mesh/scope.ts'

/**
 * A folder that is configured as several services of one thread is loaded once for each, though Node would load it once. The first
 * one keeps plain module URLs, so that an app without such a folder pays nothing. For the others each ES module of the folder
 * gets `?service=<name>` on its URL, whoever imports it and whenever. Modules in `node_modules` and outside of the folder stay
 * one for all.
 *
 * CommonJS is known by its file name, without a query: the config gives services with any of it threads of their own
 * (`config/services/copies.ts`). What it did not see is refused here, before it could share its state: to `require()` for all of
 * the services, since Node asks nobody when the same place requires the same file again.
 */
export function isolateSecondCopies(services: readonly Service[], patches: DisposableStack): void {
  const copies = secondCopies(services)
  if (copies.size === 0) return
  patches.adopt(registerHooks({ resolve: resolveFor(copies), load: loadPlain }), (hooks) => hooks.deregister())
}

/** By service: the folder whose modules it needs for itself, as the beginning of their URLs. */
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
    if (!context.conditions.includes('import')) return required(result, copies)
    const service = serviceOf(context.parentURL) ?? currentScope()?.service
    const folder = service === undefined ? undefined : copies.get(service)
    if (service === undefined || folder === undefined || !isOf(folder, result.url)) return result
    const url = new URL(result.url)
    url.searchParams.set(parameter, service)
    return { ...result, url: url.href }
  }
}

/** Data is not worth a refusal: libraries read a program's package.json so. */
function required(result: ResolveFnOutput, copies: Copies): ResolveFnOutput {
  if (result.url.endsWith('.json')) return result
  for (const [service, folder] of copies) if (isOf(folder, result.url)) throw notTwice(service, result.url)
  return result
}

/** A copy's own imports stay in the copy, also where the async context was lost. */
function serviceOf(parentURL: string | undefined): string | undefined {
  if (parentURL === undefined || !parentURL.includes(`${parameter}=`)) return undefined
  return new URL(parentURL).searchParams.get(parameter) ?? undefined
}

function isOf(prefix: string, url: string): boolean {
  return url.startsWith(prefix) && !url.includes('/node_modules/', prefix.length - 1)
}

/** `import.meta.url` without the query: programs compare it with `process.argv[1]` and build paths from it. */
const loadPlain: LoadHookSync = (url, context, next) => {
  const result = next(url, context)
  const service = serviceOf(url)
  if (service === undefined) return result
  if (result.format !== 'json' && result.format !== 'wasm' && !isModule(result.format)) throw notTwice(service, url)
  if (!isModule(result.format)) return result
  const plain = pathToFileURL(fileURLToPath(url)).href
  return { ...result, source: withPrologue(textOf(result.source), `import.meta.url=${JSON.stringify(plain)};`) }
}

function notTwice(service: string, url: string): BusbarError {
  return new BusbarError('PLACEMENT_UNSUPPORTED', {
    service,
    message: `service ${service}: another service of this thread has the same folder, and ${fileURLToPath(url)} is loaded as CommonJS, which a thread does once`,
    hint: `Write run: 'thread' for ${service}.`,
  })
}

export function isModule(format: string | null | undefined): boolean {
  return format === 'module' || format === 'module-typescript'
}

export function textOf(source: LoadFnOutput['source']): string {
  if (typeof source === 'string') return source
  return source === undefined || source === null ? '' : Buffer.from(source as Uint8Array).toString()
}

/**
 * Puts a statement about `import.meta` before the first one of a module that may ask for it. All lines keep their numbers; on
 * the first one columns move, unless that is a hashbang, which is replaced.
 */
export function withPrologue(source: string, prologue: string): string {
  if (!source.includes('import.meta')) return source
  return prologue + source.replace(/^#!.*/, '')
}
