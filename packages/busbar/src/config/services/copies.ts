/**
 * Two services may have one folder. In one thread each has the folder's ES modules for itself, since Node knows a module by its URL,
 * which may have a query (`worker/host/copies.ts`). It knows CommonJS by its file, so a folder with any of that is loaded once in
 * a thread: a second service gets threads of its own.
 */
import type { Dirent } from 'node:fs'
import { readdir, readFile, realpath } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import type { Service } from '../app.ts'
import { readPackageFile } from '../file/package-file.ts'

/** `services` in the order in which they start: the first with a folder stays where it is. */
export async function separateCopies(services: readonly Service[]): Promise<Service[]> {
  const first = new Map<string, string>()
  const separated: Service[] = []
  for (const service of services) {
    const thread = threadOf(service)
    const key = thread && `${thread} ${await realpath(service.path)}`
    const original = key && first.get(key)
    const staysThere = original === undefined || (await isOfModules(service))
    separated.push(staysThere ? service : { ...service, run: 'thread', group: undefined, copyOf: original })
    if (key !== undefined && original === undefined) first.set(key, service.name)
  }
  return separated
}

/** Undefined where it shares its thread with nobody. */
function threadOf({ run, group }: Service): string | undefined {
  return run === 'shared' ? run : group && `group ${group}`
}

/** A folder with more is not looked at to its end. */
const mostFiles = 5_000

/** By these an ES module gets at `require`, which finds modules by their files. */
const requires = /\bcreateRequire\b|\bgetBuiltinModule\b/

/** Whether all in its folder that can be loaded is an ES module. What is not sure counts as no. */
async function isOfModules({ path, entry }: Service): Promise<boolean> {
  let left = mostFiles
  const visit = async (folder: string, inherited: boolean): Promise<boolean> => {
    const own = await readPackageFile(folder)
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

/** As the nearest package.json says. */
async function isModuleScope(folder: string): Promise<boolean> {
  const found = await readPackageFile(folder)
  if (found !== undefined) return found.type === 'module'
  return dirname(folder) !== folder && isModuleScope(dirname(folder))
}

async function isHarmless(found: Dirent, file: string, isModule: boolean, isEntry: boolean): Promise<boolean> {
  // What a link leads to is known by its own place.
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
