/** Which files an app is made of, and whose a changed one is. */
import { basename, dirname, join, sep } from 'node:path'
import type { App } from '../config/app.ts'

/** Without an app, because its config is wrong, whatever lies beside the config may be what gets mended. */
export function watchedBy(app: App | undefined, operand: string): { folders: string[]; files: string[] } {
  if (app === undefined) return { folders: [operand], files: [operand] }
  const { root, configFile, services, interceptors } = app
  const entries = services.filter(({ kind }) => kind !== 'command').map(({ entry }) => entry.file)
  // An entry in a folder that is otherwise passed over, such as `dist`, makes that folder a source.
  const folders = [...services.map(({ path }) => path), ...entries.map((file) => dirname(file))]
  const files = [
    configFile ?? join(root, 'package.json'),
    join(root, '.env'),
    ...entries,
    ...(interceptors === undefined ? [] : [interceptors]),
  ]
  return { folders: [...new Set(folders)], files: [...new Set(files)] }
}

/** The services whose folders the paths lie in; `config` for whatever lies in none. */
export function changedIn(app: App | undefined, paths: readonly string[]): string[] {
  const names = paths.map((path) => {
    const owners = app?.services.filter((service) => path.startsWith(service.path + sep)) ?? []
    return owners.toSorted((a, b) => b.path.length - a.path.length)[0]?.name ?? 'config'
  })
  return [...new Set(names)]
}

/**
 * The services that have to be replaced for `next` to run; undefined for all of them. A contract is what others import;
 * whatever lies in no service's folder may be imported by any.
 */
export function outdatedIn(running: App, next: App, paths: readonly string[]): string[] | undefined {
  if (JSON.stringify(running) !== JSON.stringify(next)) return undefined
  if (paths.some((path) => basename(path).startsWith('contract.'))) return undefined
  const changed = changedIn(running, paths)
  if (changed.includes('config')) return undefined
  // One folder may be several services.
  const folders = new Set(running.services.filter(({ name }) => changed.includes(name)).map(({ path }) => path))
  return running.services.filter(({ path }) => folders.has(path)).map(({ name }) => name)
}
