import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'

/**
 * Makes a folder that the user has named, and those above it. Throws USAGE with `hint` if that is
 * not possible.
 */
export async function makeFolder(folder: string, hint: string, mode?: number): Promise<void> {
  try {
    await make(folder, mode)
  } catch (cause) {
    throw new BusbarError('USAGE', {
      message: `${folder} is not a folder, and cannot be made: ${codeOf(cause)}`,
      hint,
      cause,
    })
  }
}

/**
 * Node's own `recursive` never ends below /proc: there the system says of a folder that it is
 * missing, and of the one above that it exists.
 */
async function make(folder: string, mode: number | undefined): Promise<void> {
  try {
    await mkdir(folder, { mode })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST' && (await isFolder(folder))) return
    if (code !== 'ENOENT' || (await isFolder(dirname(folder)))) throw error
    await make(dirname(folder), mode)
    await make(folder, mode)
  }
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
