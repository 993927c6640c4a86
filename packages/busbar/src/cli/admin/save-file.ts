import { closeSync, openSync, rmSync } from 'node:fs'
import { type FileHandle, constants, open, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { BusbarError } from '../../contract/errors.ts'
import type { CommandContext } from '../command.ts'
import { onStopSignal } from '../stop-signals.ts'
import { printResult } from './print-result.ts'

/**
 * Writes a file that only this user can read, and prints its path. `name`: the default for
 * `--output`. Never replaces a file of the default name. Calls `take` when the file is open: it may
 * stop the service's worker for a while, which must not be in vain.
 */
export async function saveFile(context: CommandContext, take: () => Promise<Readable>, name: string): Promise<void> {
  const { flags, terminal } = context
  const file = resolve(terminal.cwd, flags.output ?? name)
  let isNew = false
  // A profile takes seconds: a signal meanwhile would leave an empty file. Before there is a file,
  // so that none comes in between.
  const ignoreSignals = onStopSignal((signal) => {
    if (isNew) rmSync(file, { force: true })
    ignoreSignals()
    process.kill(process.pid, signal)
  })
  try {
    isNew = createPrivate(file, flags.output !== undefined)
    await using handle = await openPrivate(file).catch((cause) => unwritable(file, cause))
    await fill(handle, isNew, file, await take())
  } catch (error) {
    // Only a new file: an existing one may be a device, or hold the user's data.
    if (isNew) await rm(file, { force: true })
    throw error
  } finally {
    ignoreSignals()
  }
  const { size } = await stat(file)
  printResult(context, { ok: true, file, bytes: size }, file)
}

async function fill(handle: FileHandle, isNew: boolean, file: string, content: Readable): Promise<void> {
  try {
    // Not earlier: if there is no content, the file keeps what it has.
    if (!isNew && (await handle.stat()).isFile()) await handle.truncate()
    await pipeline(content, handle.createWriteStream())
  } catch (cause) {
    content.destroy()
    if ((cause as NodeJS.ErrnoException).syscall === 'write') unwritable(file, cause as Error)
    throw new BusbarError('INTERNAL', { message: `${file} could not be written: ${(cause as Error).message}`, cause })
  }
}

function unwritable(file: string, cause: Error): never {
  throw new BusbarError('USAGE', {
    message: `${file} cannot be written: ${cause.message}`,
    hint: 'Give a file that can be written: --output <file>.',
    cause,
  })
}

/**
 * False: it exists, and `replaces` allows that. Synchronous: no handler of a signal runs meanwhile.
 */
function createPrivate(file: string, replaces: boolean): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    return true
  } catch (error) {
    return replaces && (error as NodeJS.ErrnoException).code === 'EEXIST' ? false : unwritable(file, error as Error)
  }
}

/** A file that existed belongs to this user alone from now on, too. */
async function openPrivate(file: string): Promise<FileHandle> {
  const handle = await open(file, constants.O_WRONLY)
  if ((await handle.stat()).isFile()) await handle.chmod(0o600)
  return handle
}

/** `web-20261123-113501`: for the names of files. */
export function stamped(service: string, now = new Date()): string {
  const [date, time] = now.toISOString().split('T') as [string, string]
  return `${service}-${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`
}
