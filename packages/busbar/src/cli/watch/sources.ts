/** The files of an app, and the services that a changed file belongs to. */
import { basename, dirname, join, sep } from 'node:path'
import type { App } from '../../config/app.ts'
import { isInternal } from '../../config/cluster/queues.ts'
import type { Outdated } from '../../supervisor/generations/changes.ts'

/** `app` is undefined if its config is invalid. Then everything beside the config is watched. */
export function watchedBy(app: App | undefined, operand: string): { folders: string[]; files: string[] } {
  if (app === undefined) return { folders: [operand], files: [operand] }
  const { root, configFile, interceptors } = app
  const services = app.services.filter((service) => !isInternal(service))
  const entries = services.filter(({ kind }) => kind !== 'command').map(({ entry }) => entry.file)
  // An entry makes its folder a source, even one that is otherwise ignored, such as `dist`.
  const folders = [...services.map(({ path }) => path), ...entries.map((file) => dirname(file))]
  const files = [
    configFile ?? join(root, 'package.json'),
    join(root, '.env'),
    ...entries,
    ...(interceptors === undefined ? [] : [interceptors]),
  ]
  return { folders: [...new Set(folders)], files: [...new Set(files)] }
}

/** The services whose folders contain the paths; `config` for paths outside of all folders. */
export function changedIn(app: App | undefined, paths: readonly string[]): string[] {
  const names = paths.map((path) => {
    const owners = app?.services.filter((service) => path.startsWith(service.path + sep)) ?? []
    return owners.toSorted((a, b) => b.path.length - a.path.length)[0]?.name ?? 'config'
  })
  return [...new Set(names)]
}

/**
 * The services whose code has changed, or all of them: any service may import a contract, or a file
 * outside of all service folders. What the config changes is applied in any case.
 */
export function outdatedIn(running: App, paths: readonly string[]): Outdated {
  if (paths.some((path) => basename(path).startsWith('contract.'))) return 'all'
  const changed = changedIn(
    running,
    paths.filter((path) => path !== running.configFile),
  )
  if (changed.includes('config')) return 'all'
  // Several services may share a folder.
  const folders = new Set(running.services.filter(({ name }) => changed.includes(name)).map(({ path }) => path))
  return running.services.filter(({ path }) => folders.has(path)).map(({ name }) => name)
}
