import { lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { userFolder } from './user-folders.ts'

/** `$XDG_CACHE_HOME/busbar`, else `~/.cache/busbar`; on Windows below `%LOCALAPPDATA%`. */
export function cacheFolder({ XDG_CACHE_HOME, LOCALAPPDATA }: NodeJS.ProcessEnv): string {
  const base = process.platform === 'win32' ? LOCALAPPDATA : XDG_CACHE_HOME
  return join(userFolder(base, '.cache'), 'busbar')
}

/** Creates the folder if it is missing. False if another user may write in it, or on a failure. */
export function isPrivateFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const stats = lstatSync(folder)
    if (!stats.isDirectory()) return false
    return process.platform === 'win32' || (stats.uid === process.getuid!() && (stats.mode & 0o022) === 0)
  } catch {
    return false
  }
}
