/** Loads packages from the lab's cache, whose folder `PACKAGES` names. */
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(join(process.env['PACKAGES'] ?? '.', 'package.json'))

/** The caller says what of it is used: its own types are in the cache, out of the compiler's sight. */
export function peer(name: string): unknown {
  return require(name)
}
