import { rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { findConfig } from '../config/file/config-files.ts'
import { pathKind } from '../config/file/file-lookup.ts'
import { BusbarError } from '../contract/errors.ts'

/** Whether a module of the folder can import `busbar`. */
export async function canImportBusbar(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    if ((await pathKind(join(at, 'node_modules/busbar/package.json'))) === 'file') return true
    if (dirname(at) === at) return false
  }
}

/** Throws USAGE if the folder has a config already. `instead`: what else there is to do. */
export async function checkNoConfig(folder: string, instead?: string): Promise<void> {
  const config = await findConfig(folder)
  if (config === undefined) return
  throw new BusbarError('USAGE', {
    message: `${folder} has a ${basename(config)} already`,
    hint: instead === undefined ? 'Move it away first.' : `Move it away first, or ${instead}.`,
  })
}

/** Throws USAGE if {@link writeNewFile} could not write the file, which only writing shows. */
export async function checkWritable(file: string): Promise<void> {
  await writeNewFile(file, '')
  await rm(file, { force: true })
}

/** Never replaces a file. */
export async function writeNewFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' })
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    throw new BusbarError('USAGE', {
      message: exists ? `${file} exists already` : `${file} could not be written: ${(cause as Error).message}`,
      hint: exists ? 'Move it away first: no file is replaced.' : 'Check the folder and its permissions.',
      cause,
    })
  }
}
