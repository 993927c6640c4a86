/** The list of `busbar save`: which apps `busbar resurrect` starts. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { BusbarError } from '../../contract/errors.ts'
import { ownFolder } from './own-folder.ts'

const savedApp = z.object({
  name: z.string(),
  root: z.string(),
  /** After `busbar start`. */
  args: z.array(z.string()),
  folder: z.string(),
})

const savedFile = z.object({ version: z.literal(1), apps: z.array(savedApp) })

export type SavedApp = z.output<typeof savedApp>

/** Variables of the environment are not saved: they may be secrets, and become outdated. */
export function writeSaved(env: NodeJS.ProcessEnv, apps: SavedApp[]): string {
  const file = fileIn(env)
  const text = `${JSON.stringify({ version: 1, apps } satisfies z.input<typeof savedFile>, undefined, 2)}\n`
  // Renamed, so that a crash leaves the previous list.
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return file
}

/** Throws USAGE if nothing was saved. */
export function readSaved(env: NodeJS.ProcessEnv): readonly SavedApp[] {
  const file = fileIn(env)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new BusbarError('USAGE', {
      message: `there is no ${file}`,
      hint: 'Start the apps, then run busbar save.',
      cause,
    })
  }
  try {
    return savedFile.parse(JSON.parse(text)).apps
  } catch (cause) {
    throw new BusbarError('USAGE', {
      message: `${file} was not written by busbar save`,
      hint: 'Run busbar save again.',
      cause,
    })
  }
}

function fileIn(env: NodeJS.ProcessEnv): string {
  return join(ownFolder(env), 'saved.json')
}
