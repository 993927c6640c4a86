import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Hazard } from './hazard.ts'
import { readPackageJson } from '../file/package-json.ts'
import { pathKind } from '../file/file-lookup.ts'
import type { Program } from './program.ts'

const maxBinarySize = 64 * 1024 * 1024

/**
 * Finds add-ons that only the main thread can load. An add-on for several threads either imports
 * Node-API (`napi_…`) or exports the initializer `node_register_module_v<ABI>`. Without both,
 * `dlopen` in a worker fails with "Module did not self-register" (node: src/node_binding.cc,
 * DLOpen).
 */
export async function findNativeHazards({ service, dependencies }: Program): Promise<Hazard[]> {
  if (service.run === 'process') return []
  const found: string[] = []
  for (const name of dependencies) {
    const folder = await findPackage(service.path, name)
    if (folder !== undefined && (await isForMainThread(folder))) found.push(name)
  }
  if (found.length === 0) return []
  return [
    {
      code: 'NATIVE_ADDON',
      services: [service.name],
      message: `${service.name} depends on ${found.join(', ')}, whose native code cannot be loaded in a worker thread`,
      hint: "Use a version built on Node-API, or write run: 'process'.",
    },
  ]
}

async function findPackage(from: string, name: string): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name)
    if ((await pathKind(place)) === 'folder') return place
    if (dirname(folder) === folder) return undefined
  }
}

async function isForMainThread(folder: string): Promise<boolean> {
  const binaries = await findBinaries(folder)
  if (binaries.length > 0) {
    for (const file of binaries) if (await isContextAware(file)) return false
    return true
  }
  if ((await pathKind(join(folder, 'binding.gyp'))) !== 'file') return false
  return ((await readPackageJson(folder).catch(() => undefined))?.dependencies ?? []).includes('nan')
}

/** Looks where node-gyp, prebuild and node-pre-gyp put binaries. */
async function findBinaries(folder: string): Promise<string[]> {
  const places = ['', 'build/Release', 'lib/binding', 'prebuilds', `prebuilds/${process.platform}-${process.arch}`]
  const found: string[] = []
  for (const place of places) {
    const names = await readdir(join(folder, place)).catch((): string[] => [])
    found.push(...names.filter((name) => name.endsWith('.node')).map((name) => join(folder, place, name)))
  }
  return found
}

/** A binary that is too large to read counts as fine. */
async function isContextAware(file: string): Promise<boolean> {
  if ((await stat(file)).size > maxBinarySize) return true
  const content = await readFile(file)
  return content.includes('napi_') || content.includes('node_register_module_v')
}
