import { createRequire, registerHooks, syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'
import { replaceProperty } from '../process/replace-property.ts'
import { type CurrentDirectory, isRelative, pathIn } from './relative-paths.ts'

const name = 'node:sqlite'

interface Sqlite {
  DatabaseSync: abstract new (...args: unknown[]) => object
  backup?: (...args: unknown[]) => unknown
}

/**
 * Makes `node:sqlite` resolve databases in the current directory. Patches the module when it is
 * first loaded: loading takes time, and Node 24 prints a warning.
 */
export function patchSqlite(directory: CurrentDirectory, patches: DisposableStack): void {
  let done = false
  const patch = (): void => {
    if (done) return
    done = true
    const sqlite = createRequire(import.meta.url)(name) as Sqlite
    replaceDatabase(sqlite, directory, patches)
    if (sqlite.backup !== undefined) replaceBackup(sqlite as Required<Sqlite>, directory, patches)
    syncBuiltinESMExports()
  }
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier === name) patch()
      return next(specifier, context)
    },
  })
  patches.defer(() => hooks.deregister())
  type Get = (id: string) => object | undefined
  replaceProperty(patches, process as { getBuiltinModule: Get }, 'getBuiltinModule', (get) => (id) => {
    if (id === name) patch()
    return get(id)
  })
}

function replaceDatabase(sqlite: Sqlite, directory: CurrentDirectory, patches: DisposableStack): void {
  replaceProperty(patches, sqlite, 'DatabaseSync', (DatabaseSync) => {
    return new Proxy(DatabaseSync, {
      construct: (target, args: unknown[], newTarget) =>
        Reflect.construct(
          target,
          args.length === 0 ? args : args.with(0, databaseIn(args[0], directory)),
          newTarget,
        ) as object,
    })
  })
  const prototype = sqlite.DatabaseSync.prototype as { loadExtension: (...args: unknown[]) => unknown }
  replaceProperty(patches, prototype, 'loadExtension', (load) => {
    return function (this: unknown, file, ...rest) {
      const isFile = isRelative(file) && /[\\/]/.test(file)
      return Reflect.apply(load, this, [isFile ? databaseIn(file, directory) : file, ...rest])
    }
  })
}

function replaceBackup(sqlite: Required<Sqlite>, directory: CurrentDirectory, patches: DisposableStack): void {
  replaceProperty(patches, sqlite, 'backup', (backup) => (...args) => {
    return backup(...(args.length < 2 ? args : args.with(1, databaseIn(args[1], directory))))
  })
}

/** SQLite also accepts a URI, whose path may be relative, and names that are not files. */
function databaseIn(path: unknown, directory: CurrentDirectory): unknown {
  if (!isRelative(path) || path === ':memory:') return path
  const current = directory()
  if (current === undefined) return path
  if (!path.startsWith('file:')) return pathIn(current, path)
  const file = path.slice('file:'.length)
  return /^(?:\/|:memory:|\?|#|$)/.test(file) ? path : `file:${pathToFileURL(current).pathname}/${file}`
}
