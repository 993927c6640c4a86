import type { Dirent } from 'node:fs'
import { sep } from 'node:path'
import { relativeTo } from './folder.ts'

/**
 * What Node says of a path it says as it was given: in errors, in the entries of a folder, in names it makes up. All of these
 * take a result that names absolute paths and give it as plain Node would.
 */
export type Localise = (result: unknown, folder: string) => unknown

const paths = ['path', 'dest', 'filename'] as const

export function localError(error: unknown, folder: string): unknown {
  if (!(error instanceof Error)) return error
  const fields = error as Error & Partial<Record<(typeof paths)[number], unknown>>
  for (const name of paths) {
    const path = fields[name]
    if (typeof path === 'string') fields[name] = relativeTo(folder, path)
  }
  const { message, stack } = error
  const local = message.replaceAll(folder + sep, '')
  if (local === message) return error
  error.message = local
  if (stack !== undefined) error.stack = stack.replace(message, () => local)
  return error
}

export const localPath: Localise = (result, folder) =>
  typeof result === 'string' ? relativeTo(folder, result) : result

/** `fs.Dirent` with `withFileTypes`, else names, which say nothing of the folder. */
export const localEntries: Localise = (result, folder) => {
  for (const entry of result as readonly (Dirent | string | Buffer)[]) localEntry(entry, folder)
  return result
}

function localEntry(entry: Dirent | string | Buffer, folder: string): void {
  if (typeof entry === 'object' && 'parentPath' in entry) entry.parentPath = relativeTo(folder, entry.parentPath)
}

/** Of `mkdtempDisposable`: what removes the folder keeps the absolute path. */
export const localDisposable: Localise = (result, folder) => {
  const made = result as { path: string }
  made.path = relativeTo(folder, made.path)
  return made
}
