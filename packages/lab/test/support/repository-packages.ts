import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Arm } from '../../src/arm.ts'
import { requirementsFolder } from '../../src/requirements.ts'
import { OwnCache } from './fixture.ts'

const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url))

/** The repository depends on all packages of an arm, in the same versions. */
export function hasPackagesOf({ requires }: Arm): boolean {
  if (requires?.kind !== 'npm') return false
  return Object.entries(requires.packages).every(([name, version]) => versionHere(name) === version)
}

function versionHere(name: string): string | undefined {
  const file = join(modules, name, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : undefined
}

/** A cache of the lab that has the packages of an arm, without the registry. */
export function cacheFor(arm: Arm): OwnCache {
  const cache = new OwnCache()
  linkPackagesOf(arm)
  return cache
}

/** Into the cache of this process. */
export function linkPackagesOf(arm: Arm): void {
  const folder = requirementsFolder(arm)
  mkdirSync(folder, { recursive: true })
  symlinkSync(modules, join(folder, 'node_modules'))
}
