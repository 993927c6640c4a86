import { createRequire, registerHooks, syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'
import { replace } from '../replace.ts'
import { type CurrentFolder, isRelative, pathIn } from './folder.ts'

const name = 'node:sqlite'

interface Sqlite {
  DatabaseSync: abstract new (...args: unknown[]) => object
  backup?: (...args: unknown[]) => unknown
}

/**
 * Lets `node:sqlite` find databases in `folder`. Only once somebody loads it: loading it costs time, and Node 24 prints a warning.
 */
export function patchSqlite(folder: CurrentFolder, patches: DisposableStack): void {
  let done = false
  const patch = (): void => {
    if (done) return
    done = true
    const sqlite = createRequire(import.meta.url)(name) as Sqlite
    replaceDatabase(sqlite, folder, patches)
    if (sqlite.backup !== undefined) replaceBackup(sqlite as Required<Sqlite>, folder, patches)
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
  replace(patches, process as { getBuiltinModule: Get }, 'getBuiltinModule', (get) => (id) => {
    if (id === name) patch()
    return get(id)
  })
}

function replaceDatabase(sqlite: Sqlite, folder: CurrentFolder, patches: DisposableStack): void {
  replace(patches, sqlite, 'DatabaseSync', (DatabaseSync) => {
    return new Proxy(DatabaseSync, {
      construct: (target, args: unknown[], newTarget) =>
        Reflect.construct(
          target,
          args.length === 0 ? args : args.with(0, databaseIn(args[0], folder)),
          newTarget,
        ) as object,
    })
  })
  const prototype = sqlite.DatabaseSync.prototype as { loadExtension: (...args: unknown[]) => unknown }
  replace(patches, prototype, 'loadExtension', (load) => {
    return function (this: unknown, file, ...rest) {
      const isFile = isRelative(file) && /[\\/]/.test(file)
      return Reflect.apply(load, this, [isFile ? databaseIn(file, folder) : file, ...rest])
    }
  })
}

function replaceBackup(sqlite: Required<Sqlite>, folder: CurrentFolder, patches: DisposableStack): void {
  replace(patches, sqlite, 'backup', (backup) => (...args) => {
    return backup(...(args.length < 2 ? args : args.with(1, databaseIn(args[1], folder))))
  })
}

/** SQLite also takes a URI, whose path may be relative, and names of databases that are no files. */
function databaseIn(path: unknown, folder: CurrentFolder): unknown {
  if (!isRelative(path) || path === ':memory:') return path
  const current = folder()
  if (current === undefined) return path
  if (!path.startsWith('file:')) return pathIn(current, path)
  const file = path.slice('file:'.length)
  return /^(?:\/|:memory:|\?|#|$)/.test(file) ? path : `file:${pathToFileURL(current).pathname}/${file}`
}
