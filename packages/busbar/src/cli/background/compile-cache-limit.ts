import type { Dirent } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { compileCacheFolder } from '../../shared/process/compile-cache.ts'

/** Bytes: of the modules of some tens of apps. Node adds to its cache and removes nothing. */
const most = 256 * 1024 ** 2

/**
 * Removes the compile cache of this user when it has become too large: of versions of Node and of
 * files that are gone. Running apps have read what they need, and write it again when they end.
 * Never rejects.
 */
export async function limitCompileCache(env: NodeJS.ProcessEnv, limit: number = most): Promise<void> {
  const folder = compileCacheFolder(env)
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    let size = 0
    for (const file of files) size += await sizeOf(file)
    if (size > limit) await rm(folder, { recursive: true, force: true })
  } catch {
    // There is no such folder, or another app removes it now.
  }
}

async function sizeOf({ parentPath, name }: Dirent): Promise<number> {
  const stats = await stat(join(parentPath, name)).catch(() => undefined)
  return stats?.size ?? 0
}
