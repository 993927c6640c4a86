/**
 * Node's compile cache: the code that V8 has compiled, and TypeScript without its types, of the
 * start before. What it saves: docs/decisions/run/start.md.
 */
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { cacheFolder, isPrivateFolder } from './cache-folder.ts'

/** Node's own variable, which threads and processes read when they start. */
const nodeVariable = 'NODE_COMPILE_CACHE'

/** Marks that Busbar has set it, and not the user. */
const ownMark = 'BUSBAR_COMPILE_CACHE'

/**
 * Uses a folder that only this user can write. Node's default is below the folder for temporary
 * files, where another user could put code first. Does nothing if the user has chosen a folder or
 * none (`NODE_COMPILE_CACHE`, `NODE_DISABLE_COMPILE_CACHE`), if coverage is measured, which the
 * cache makes less precise, and if there is no safe folder.
 */
export function useCompileCache(env: NodeJS.ProcessEnv = process.env): void {
  if (getCompileCacheDir() !== undefined || env['NODE_V8_COVERAGE'] !== undefined) return
  const folder = compileCacheFolder(env)
  // Node itself heeds NODE_DISABLE_COMPILE_CACHE, and reports a failure by its result.
  if (isPrivateFolder(dirname(folder)) && isPrivateFolder(folder)) enableCompileCache(folder)
}

/**
 * For the environment of a new thread or process of Busbar: it uses the cache of this thread.
 */
export function compileCacheVariables(): NodeJS.ProcessEnv {
  const used = getCompileCacheDir()
  if (used === undefined || process.env[nodeVariable] !== undefined) return {}
  // Node adds a folder for its version.
  return { [nodeVariable]: dirname(used), [ownMark]: '1' }
}

/** At the start of such a thread or process: what it starts itself is not Busbar's. */
export function takeCompileCacheVariables(env: NodeJS.ProcessEnv = process.env): void {
  if (env[ownMark] === undefined) return
  delete env[ownMark]
  delete env[nodeVariable]
}

export function compileCacheFolder(env: NodeJS.ProcessEnv): string {
  return join(cacheFolder(env), 'compiled')
}
