import { isAbsolute, join, sep } from 'node:path'

/** The folder that relative paths of the running code start from; undefined where the process's own is right. */
export type CurrentFolder = () => string | undefined

/** Strings only: URLs are absolute, descriptors are open, and of a `Buffer` nobody says what text it is. */
export function isRelative(path: unknown): path is string {
  return typeof path === 'string' && path !== '' && !isAbsolute(path)
}

/**
 * As the system would put them together: nothing is normalised, since `link/..` is not where it looks, and a slash at the end says
 * that there must be a folder. On Windows the system normalises by itself, and `C:file` is relative too.
 */
export function pathIn(folder: string, path: string): string {
  return sep === '/' ? `${folder}/${path}` : join(folder, path)
}

/** A path that {@link pathIn} made, or one derived from it, as it would be had the relative one been used. */
export function relativeTo(folder: string, path: string): string {
  if (path === folder) return '.'
  return path.startsWith(folder) && path[folder.length] === sep ? path.slice(folder.length + 1) : path
}
