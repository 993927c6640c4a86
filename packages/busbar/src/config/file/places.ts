import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { nearest } from '../nearest.ts'

export type Kind = 'file' | 'folder' | 'missing'

/** What stands at a path; what cannot be looked at is missing. */
export async function kindOf(path: string): Promise<Kind> {
  try {
    const found = await stat(path)
    return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'missing'
  } catch {
    return 'missing'
  }
}

/** The names in a folder, sorted; none where it cannot be read. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch((): string[] => [])).toSorted()
}

/** The first of the files that exists. */
export async function firstFile(files: Iterable<string>): Promise<string | undefined> {
  for (const file of files) if ((await kindOf(file)) === 'file') return file
  return undefined
}

/** What was probably meant by a path that leads nowhere: the part that is missing, put right. */
export async function nearestPath(path: string): Promise<string | undefined> {
  const parent = dirname(path)
  if (parent === path) return undefined
  if ((await kindOf(parent)) !== 'folder') {
    const better = await nearestPath(parent)
    if (better === undefined) return undefined
    const whole = join(better, basename(path))
    return (await kindOf(whole)) === 'missing' ? better : whole
  }
  const near = nearest(basename(path), await namesIn(parent))
  return near === undefined ? undefined : join(parent, near)
}
