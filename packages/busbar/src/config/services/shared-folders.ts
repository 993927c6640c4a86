/**
 * Two services may have the same folder. In one thread each gets its own copy of the folder's ES
 * modules, since Node caches them by URL, which may have a query
 * (`worker/sandbox/start/second-copies.ts`). Node caches CommonJS by file name, so a thread can
 * load it only once. If a folder has any CommonJS, the second service gets a thread of its own.
 */
import type { Dirent } from 'node:fs'
import { readdir, readFile, realpath } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import type { Service } from '../app.ts'
import { readPackageJson } from '../file/package-json.ts'

/** `services` are in start order. The first service of a folder stays where it is. */
export async function separateSharedFolders(services: readonly Service[]): Promise<Service[]> {
  const folders = await foldersInUse(services.filter((service) => threadOf(service) !== undefined))
  const copies = copiesIn(services, folders)
  return services.map((service) => {
    const copyOf = copies.get(service.name)
    if (copyOf === undefined) return service
    const { run, group } = service
    return { ...service, run: 'thread', group: undefined, copyOf, asked: { run, group } }
  })
}

/** The folder of a service, which other services have too. */
export interface FolderInUse {
  /** Without links. */
  readonly folder: string
  /** A thread that has loaded the folder for another service can load it for this one too. */
  readonly isRepeatable: boolean
}

/** By the names of services. Those that are alone in their folder are left out. */
export async function foldersInUse(services: readonly Service[]): Promise<Map<string, FolderInUse>> {
  const places = await Promise.all(
    services.map(async (service) => ({ service, folder: await realpath(service.path).catch(() => service.path) })),
  )
  const found = new Map<string, FolderInUse>()
  for (const [folder, users] of Map.groupBy(places, (place) => place.folder)) {
    if (users.length === 1) continue
    // They differ in their entries only.
    const known = new Map<string, boolean>()
    for (const { service } of users) {
      const isRepeatable = known.get(service.entry.file) ?? (await hasOnlyModules(service))
      known.set(service.entry.file, isRepeatable)
      found.set(service.name, { folder, isRepeatable })
    }
  }
  return found
}

/** Services that cannot share their thread, with the one before. `services`: in start order. */
export function copiesIn(
  services: Iterable<Pick<Service, 'name' | 'run' | 'group'>>,
  folders: ReadonlyMap<string, FolderInUse>,
): Map<string, string> {
  const first = new Map<string, string>()
  const copies = new Map<string, string>()
  for (const service of services) {
    const thread = threadOf(service)
    const used = folders.get(service.name)
    if (thread === undefined || used === undefined) continue
    const key = `${thread} ${used.folder}`
    const original = first.get(key)
    if (original === undefined) first.set(key, service.name)
    else if (!used.isRepeatable) copies.set(service.name, original)
  }
  return copies
}

/** Identifies the threads of a service. Undefined if it shares them with no other service. */
function threadOf({ run, group }: Pick<Service, 'run' | 'group'>): string | undefined {
  return run === 'shared' ? run : group && `group ${group}`
}

/** A larger folder is not searched, and counts as CommonJS. */
const maxFiles = 5_000

/** Ways in which an ES module gets `require`, which caches by file name. */
const requires = /\bcreateRequire\b|\bgetBuiltinModule\b/

/** True if every loadable file of the folder is certainly an ES module. */
async function hasOnlyModules({ path, entry }: Service): Promise<boolean> {
  let left = maxFiles
  const visit = async (folder: string, inherited: boolean): Promise<boolean> => {
    const own = await readPackageJson(folder)
    const isModule = own === undefined ? inherited : own.type === 'module'
    for (const found of await readdir(folder, { withFileTypes: true })) {
      if (left-- === 0) return false
      const place = join(folder, found.name)
      const isFine = found.isDirectory()
        ? found.name === 'node_modules' || (await visit(place, isModule))
        : await isHarmless(found, place, isModule, place === entry.file)
      if (!isFine) return false
    }
    return true
  }
  try {
    return await visit(path, await isModuleScope(dirname(path)))
  } catch {
    return false
  }
}

/** According to the nearest package.json. */
async function isModuleScope(folder: string): Promise<boolean> {
  const found = await readPackageJson(folder)
  if (found !== undefined) return found.type === 'module'
  return dirname(folder) !== folder && isModuleScope(dirname(folder))
}

async function isHarmless(found: Dirent, file: string, isModule: boolean, isEntry: boolean): Promise<boolean> {
  // Node caches the target of a link by the target's path.
  if (!found.isFile()) return true
  switch (extname(file)) {
    case '.cjs':
    case '.cts':
    case '.node':
      return false
    case '.js':
    case '.ts':
      return isModule && !requires.test(await readFile(file, 'utf8'))
    case '.mjs':
    case '.mts':
      return !requires.test(await readFile(file, 'utf8'))
    default:
      return isModule || !isEntry
  }
}
