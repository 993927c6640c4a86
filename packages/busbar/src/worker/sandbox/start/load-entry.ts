import { realpathSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { currentScope } from '../../../mesh/scope.ts'
import { isEsModule, textOf, withPrologue } from './second-copies.ts'
import type { ProgramProcess } from '../process/program-process.ts'
import type { Programs } from '../process/programs.ts'
import { addErrorLocation, type LoadedModule } from './syntax-error-location.ts'

export interface EntryExports {
  /** The entry's default export: `module.exports`, or the `default` of an ES module. */
  readonly value: unknown
  /** How messages call it: `module.exports`, `default export`. */
  readonly as: string
  /** All exports, if none is marked as the default. */
  readonly named?: Readonly<Record<string, unknown>>
}

/** Loads a program's entry as the main module, as `node <file>` does. */
export async function loadEntry(program: ProgramProcess, programs: Programs): Promise<EntryExports> {
  const { file } = program.service.entry
  // Node resolves symbolic links too. The load hooks below compare this URL.
  const url = pathToFileURL(realpathSync(file)).href
  const format = await formatOf(url)
  return isEsModule(format) ? await importMain(url) : requireMain(file, program, programs)
}

/**
 * Lets Node's loader and all registered hooks determine the format, so that a `.js` or `.ts` file
 * without a `type` is detected by its syntax. The module is replaced by an empty one: no code runs.
 */
async function formatOf(url: string): Promise<string | null | undefined> {
  const queried = `${url}?format=query`
  let format: string | null | undefined
  const hooks = registerHooks({
    load(loaded, context, next) {
      // A second copy adds its own parameter. The path itself may contain `&`.
      if (loaded !== queried && !loaded.startsWith(`${queried}&`)) return next(loaded, context)
      format = next(loaded, context).format
      return { format: 'module', source: '', shortCircuit: true }
    },
  })
  try {
    await import(queried)
    return format
  } finally {
    hooks.deregister()
  }
}

async function importMain(url: string): Promise<EntryExports> {
  const scope = currentScope()
  let last: LoadedModule | undefined
  const hooks = registerHooks({
    load(loaded, context, next) {
      const result = next(loaded, context)
      // Programs may start concurrently: only modules of this one count.
      if (currentScope() === scope) last = { url: loaded, format: result.format, source: textOf(result.source) }
      if (loaded.split('?')[0] !== url || !isEsModule(result.format)) return result
      // Without its query, the URL is the entry's also in a second copy.
      return { ...result, source: withPrologue(textOf(result.source), 'import.meta.main=true;') }
    },
  })
  try {
    const namespace = (await import(url)) as Readonly<Record<string, unknown>>
    const value = namespace['default']
    return { value, as: 'default export', ...(value === undefined && { named: namespace }) }
  } catch (thrown) {
    addErrorLocation(thrown, last)
    throw thrown
  } finally {
    hooks.deregister()
  }
}

/**
 * Node calls `load` hooks after it creates a module and before it runs it. There it becomes the
 * main one.
 */
function requireMain(file: string, program: ProgramProcess, programs: Programs): EntryExports {
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

/**
 * Sets the properties that Node gives to the main module. Only by its setter does `parent` change
 * what errors of `require` show. With `--pending-deprecation` the setter warns or throws (DEP0144).
 */
function asMain(module: NodeJS.Module | undefined): unknown {
  const { noDeprecation = false } = process
  process.noDeprecation = true
  try {
    return module && Object.assign(module, { id: '.', parent: null })
  } finally {
    process.noDeprecation = noDeprecation
  }
}

/**
 * A compiled ES module has `__esModule`. A plain object may be a list of exports or the export
 * itself.
 */
function commonJsExport(exports: unknown): EntryExports {
  const module = exports as Readonly<Record<string, unknown>> | null | undefined
  if (module?.['__esModule'] === true && module['default'] !== undefined)
    return { value: module['default'], as: 'exports.default' }
  const isPlain = typeof module === 'object' && module !== null && Object.getPrototypeOf(module) === Object.prototype
  return { value: exports, as: 'module.exports', ...(isPlain && { named: module }) }
}

/**
 * Makes `process.mainModule` per program. Node copies it to `require.main` of every module that it
 * loads, so it must be that of the program that loads. A program that assigns it changes only its
 * own.
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
