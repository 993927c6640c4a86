import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { BusbarError } from '../../contract/errors.ts'
import type { CommandContext } from '../command.ts'
import { printResult } from './print-result.ts'

/**
 * Writes a file that only this user can read, and prints its path. `name`: the default for
 * `--output`. Never replaces a file of the default name.
 */
export async function saveFile(context: CommandContext, content: Readable, name: string): Promise<void> {
  const { flags, terminal } = context
  const file = resolve(terminal.cwd, flags.output ?? name)
  try {
    const { handle, isNew } = await openPrivate(file, flags.output !== undefined)
    try {
      await pipeline(content, handle.createWriteStream())
    } catch (error) {
      // Only a new file: an existing one may be a device, or hold the user's data.
      if (isNew) await rm(file, { force: true })
      throw error
    }
  } catch (cause) {
    content.destroy()
    throw new BusbarError('INTERNAL', { message: `${file} could not be written: ${(cause as Error).message}`, cause })
  }
  const { size } = await stat(file)
  printResult(context, { ok: true, file, bytes: size }, file)
}

/** A file that exists is emptied if `replaces`, and then belongs to this user alone, too. */
async function openPrivate(file: string, replaces: boolean): Promise<{ handle: FileHandle; isNew: boolean }> {
  try {
    return { handle: await open(file, 'wx', 0o600), isNew: true }
  } catch (error) {
    if (!replaces || (error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const handle = await open(file, 'w')
  if ((await handle.stat()).isFile()) await handle.chmod(0o600)
  return { handle, isNew: false }
}

/** `web-20261123-113501`: for the names of files. */
export function stamped(service: string, now = new Date()): string {
  const [date, time] = now.toISOString().split('T') as [string, string]
  return `${service}-${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`
}
