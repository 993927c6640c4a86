import type { Dirent } from 'node:fs'
import { isAbsolute, join, sep } from 'node:path'

/**
 * The directory from which relative paths of the running code start; undefined to use the
 * process's.
 */
export type CurrentDirectory = () => string | undefined

/**
 * Only strings: URLs are absolute, descriptors are open, and the encoding of a `Buffer` is unknown.
 */
export function isRelative(path: unknown): path is string {
  return typeof path === 'string' && path !== '' && !isAbsolute(path)
}

/**
 * Joins paths as the system does. Nothing is normalised: `link/..` is not the parent of `link`, and
 * a trailing slash requires a directory. On Windows the system normalises, and `C:file` is relative
 * too.
 */
export function pathIn(directory: string, path: string): string {
  return sep === '/' ? `${directory}/${path}` : join(directory, path)
}

/** Makes a path that {@link pathIn} produced, or one derived from it, relative again. */
export function relativeTo(directory: string, path: string): string {
  if (path === directory) return '.'
  return path.startsWith(directory) && path[directory.length] === sep ? path.slice(directory.length + 1) : path
}

/**
 * Node reports paths as they were given: in errors, in directory entries, in generated names. These
 * functions convert a result with absolute paths to what plain Node would return.
 */
export type Localise = (result: unknown, directory: string) => unknown

const paths = ['path', 'dest', 'filename'] as const

export function localError(error: unknown, directory: string): unknown {
  if (!(error instanceof Error)) return error
  const fields = error as Error & Partial<Record<(typeof paths)[number], unknown>>
  for (const name of paths) {
    const path = fields[name]
    if (typeof path === 'string') fields[name] = relativeTo(directory, path)
  }
  const { message, stack } = error
  const local = message.replaceAll(directory + sep, '')
  if (local === message) return error
  error.message = local
  if (stack !== undefined) error.stack = stack.replace(message, () => local)
  return error
}

export const localPath: Localise = (result, directory) =>
  typeof result === 'string' ? relativeTo(directory, result) : result

/** `fs.Dirent` with `withFileTypes`, else names without a directory. */
export const localEntries: Localise = (result, directory) => {
  for (const entry of result as readonly (Dirent | string | Buffer)[]) localEntry(entry, directory)
  return result
}

function localEntry(entry: Dirent | string | Buffer, directory: string): void {
  if (typeof entry === 'object' && 'parentPath' in entry) entry.parentPath = relativeTo(directory, entry.parentPath)
}

/** For `mkdtempDisposable`: its removal keeps the absolute path. */
export const localDisposable: Localise = (result, directory) => {
  const made = result as { path: string }
  made.path = relativeTo(directory, made.path)
  return made
}
