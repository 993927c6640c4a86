import { statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { compileCacheFolder } from '../../shared/process/compile-cache.ts'

export interface CacheLimits {
  readonly files: number
  readonly bytes: number
}

/** The modules of some tens of apps. Node adds to its cache and removes nothing. */
const usual: CacheLimits = { files: 20_000, bytes: 256 * 1024 ** 2 }
/** Files whose sizes are read at once: half a millisecond. */
const batch = 100

/**
 * Removes the compile cache of this user when it has become too large: of versions of Node and of
 * files that are gone. Running apps have read what they need, and write it again when they end.
 * Never rejects.
 *
 * The sizes are read synchronously, in a fifth of the CPU time that promises take: every start does
 * this. 74,000 files took 2.3 s of a processor by promises.
 */
export async function limitCompileCache(env: NodeJS.ProcessEnv, limits: CacheLimits = usual): Promise<void> {
  const folder = compileCacheFolder(env)
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
    const isTooLarge = files.length > limits.files || (await sizeOf(files)) > limits.bytes
    if (isTooLarge) await rm(folder, { recursive: true, force: true })
  } catch {
    // There is no such folder, or another app removes it now.
  }
}

async function sizeOf(files: readonly string[]): Promise<number> {
  let size = 0
  for (const [at, file] of files.entries()) {
    if (at % batch === 0) await nextTurn()
    size += statSync(file, { throwIfNoEntry: false })?.size ?? 0
  }
  return size
}
