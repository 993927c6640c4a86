/** Imports packages from the lab's cache, whose folder `PACKAGES` names. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { resolve } = createRequire(join(process.env['PACKAGES'] ?? '.', 'package.json'))

/** `T` says what of it is used here: its own types are in the cache, out of the compiler's sight. */
export async function peer<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(resolve(name)).href)) as T
}
