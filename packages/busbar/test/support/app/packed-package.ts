import { execFile } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { packedIn } from './packages.ts'

const source = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Installs the packed package in `place` like npm, but with the dependencies of this repository,
 * without a registry.
 */
export async function installPacked(place: string): Promise<void> {
  const packed = await packedIn(place, 'busbar')
  const target = join(place, 'node_modules/busbar')
  await mkdir(target, { recursive: true })
  await promisify(execFile)('tar', ['-xzf', packed, '-C', target, '--strip-components=1'])
  await copyDependencies('busbar', join(source, 'package.json'), join(place, 'node_modules'), new Set())
}

/** Only declared dependencies, so that an undeclared one is not found. */
async function copyDependencies(name: string, manifest: string, target: string, done: Set<string>): Promise<void> {
  if (done.has(name)) return
  done.add(name)
  const require = createRequire(manifest)
  const { dependencies = {} } = require(manifest) as { dependencies?: Record<string, string> }
  for (const dependency of Object.keys(dependencies)) {
    const folder = require.resolve
      .paths(dependency)!
      .map((path) => join(path, dependency))
      .find((path) => hasManifest(require, path))!
    await cp(folder, join(target, dependency), { recursive: true, dereference: true })
    await copyDependencies(dependency, join(folder, 'package.json'), target, done)
  }
}

function hasManifest(require: NodeJS.Require, folder: string): boolean {
  try {
    return dirname(require.resolve(join(folder, 'package.json'))) !== ''
  } catch {
    return false
  }
}
