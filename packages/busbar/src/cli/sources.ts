/** Which files an app is made of, and whose a changed one is. */
import { dirname, join, sep } from 'node:path'
import type { App } from '../config/app.ts'

/** Without an app, because its config is wrong, whatever lies beside the config may be what gets mended. */
export function watchedBy(app: App | undefined, operand: string): { folders: string[]; files: string[] } {
  if (app === undefined) return { folders: [operand], files: [operand] }
  const { root, configFile, services, interceptors } = app
  // An entry in a folder that is otherwise passed over, such as `dist`, makes that folder a source.
  const folders = services.flatMap(({ path, entry }) => [path, dirname(entry.file)])
  const files = [
    configFile ?? join(root, 'package.json'),
    join(root, '.env'),
    ...services.map(({ entry }) => entry.file),
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
