import { realpathSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { currentScope } from '../../mesh/scope.ts'
import { isModule, textOf, withPrologue } from './copies.ts'
import type { ProgramProcess } from './program-process.ts'
import type { Programs } from './programs.ts'
import { addPlace, type Loaded } from './syntax.ts'

export interface Exported {
  /** What the program's entry exports by default: `module.exports`, or the `default` of an ES module. */
  readonly value: unknown
  /** `module.exports`, `default export`. */
  readonly as: string
  /** All that it exports, where nothing is marked as the default. */
  readonly named?: Readonly<Record<string, unknown>>
}

/** Loads a program's entry as `node <file>` would: as the main module, for guards that ask for it. */
export async function loadEntry(program: ProgramProcess, programs: Programs): Promise<Exported> {
  const { file } = program.service.entry
  // Where links lead, as Node does it: a module is known by the URL that the loader tells its hooks.
  const url = pathToFileURL(realpathSync(file)).href
  const format = await formatOf(url)
  return isModule(format) ? await importMain(url) : requireMain(file, program, programs)
}

/**
 * Asks Node itself, by its loader and every hook that is registered, so that a `.js` or `.ts` without a `type` is
 * judged by its syntax as ever. The probe's module is empty: nothing runs.
 */
async function formatOf(url: string): Promise<string | null | undefined> {
  const probe = `${url}?format=asked`
  let format: string | null | undefined
  const hooks = registerHooks({
    load(loaded, context, next) {
      if (loaded.split('&')[0] !== probe) return next(loaded, context)
      format = next(loaded, context).format
      return { format: 'module', source: '', shortCircuit: true }
    },
  })
  try {
    await import(probe)
    return format
  } finally {
    hooks.deregister()
  }
}

async function importMain(url: string): Promise<Exported> {
  const scope = currentScope()
  let last: Loaded | undefined
  const hooks = registerHooks({
    load(loaded, context, next) {
      const result = next(loaded, context)
      // Programs may start at the same time: only what this one loads counts.
      if (currentScope() === scope) last = { url: loaded, format: result.format, source: textOf(result.source) }
      if (loaded.split('?')[0] !== url || !isModule(result.format)) return result
      // Also a second copy's entry, which has a query.
      return { ...result, source: withPrologue(textOf(result.source), 'import.meta.main=true;') }
    },
  })
  try {
    const namespace = (await import(url)) as Readonly<Record<string, unknown>>
    const value = namespace['default']
    return { value, as: 'default export', ...(value === undefined && { named: namespace }) }
  } catch (thrown) {
    addPlace(thrown, last)
    throw thrown
  } finally {
    hooks.deregister()
  }
}

/** Node calls `load` hooks when it has made the module and before it runs it: then the module becomes the main one. */
function requireMain(file: string, program: ProgramProcess, programs: Programs): Exported {
  const require = createRequire(file)
  const main = require.resolve(file)
  const { href } = pathToFileURL(main)
  shareMainModule(programs)
  const hooks = registerHooks({
    load(url, context, next) {
      if (url.split('?')[0] === href) program.mainModule ??= asMain(require.cache[main])
      return next(url, context)
    },
  })
  try {
    return commonJsExport(require(main))
  } finally {
    hooks.deregister()
    program.mainModule = process.mainModule
    shareMainModule(programs)
  }
}

/** What Node gives the module of the file that it was started with. */
function asMain(module: NodeJS.Module | undefined): unknown {
  return module && Object.assign(module, { id: '.', parent: null })
}

/** Compiled ES modules say so. A plain object may be a list of exports, or itself what is exported. */
function commonJsExport(exports: unknown): Exported {
  const module = exports as Readonly<Record<string, unknown>> | null | undefined
  if (module?.['__esModule'] === true && module['default'] !== undefined)
    return { value: module['default'], as: 'exports.default' }
  const isPlain = typeof module === 'object' && module !== null && Object.getPrototypeOf(module) === Object.prototype
  return { value: exports, as: 'module.exports', ...(isPlain && { named: module }) }
}

/**
 * Every module gets it as its `require.main`, so it has to be that of the program which loads. A program that starts another
 * main module, or assigns one, changes it for itself.
 */
function shareMainModule(programs: Programs): void {
  Object.defineProperty(process, 'mainModule', {
    configurable: true,
    enumerable: true,
    get: () => programs.current?.mainModule,
    set: (module) => {
      if (programs.current !== undefined) programs.current.mainModule = module
    },
  })
}
