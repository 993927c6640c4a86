/** Loads packages from the folder `PACKAGES` in the lab's cache. */
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(join(process.env['PACKAGES'] ?? '.', 'package.json'))

/**
 * Untyped: the compiler does not see the package in the cache, so callers declare what they use.
 */
export function loadPeerPackage(name: string): unknown {
  return require(name)
}
