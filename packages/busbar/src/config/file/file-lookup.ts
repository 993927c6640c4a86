import { access, constants, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { nearest } from '../nearest.ts'

export type Kind = 'file' | 'folder' | 'missing'

/** A path without permission counts as missing. */
export async function pathKind(path: string): Promise<Kind> {
  try {
    const found = await stat(path)
    return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'missing'
  } catch {
    return 'missing'
  }
}

const { R_OK, X_OK } = constants

/**
 * Why this user may not read a file, or find files in a folder, such as `EACCES: …`. Undefined if
 * they may, and if there is nothing.
 */
export async function whyUnreadable(path: string): Promise<string | undefined> {
  return await whyRefused(async () => await access(path, (await stat(path)).isDirectory() ? X_OK : R_OK))
}

/** Why this user may not list a folder and find its files. */
export async function whyUnlistable(folder: string): Promise<string | undefined> {
  return await whyRefused(async () => await access(folder, R_OK | X_OK))
}

async function whyRefused(attempt: () => Promise<void>): Promise<string | undefined> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : message
  }
}

/** Sorted names. Empty if the folder cannot be read. */
export async function listFolder(folder: string): Promise<string[]> {
  return (await readdir(folder).catch((): string[] => [])).toSorted()
}

export async function firstExistingFile(files: Iterable<string>): Promise<string | undefined> {
  for (const file of files) if ((await pathKind(file)) === 'file') return file
  return undefined
}

/** The existing path that was probably meant by one that does not exist, if any is similar. */
export async function closestPath(path: string): Promise<string | undefined> {
  const parent = dirname(path)
  if (parent === path) return undefined
  if ((await pathKind(parent)) !== 'folder') {
    const better = await closestPath(parent)
    if (better === undefined) return undefined
    const whole = join(better, basename(path))
    return (await pathKind(whole)) === 'missing' ? better : whole
  }
  const near = nearest(basename(path), await listFolder(parent))
  return near === undefined ? undefined : join(parent, near)
}
