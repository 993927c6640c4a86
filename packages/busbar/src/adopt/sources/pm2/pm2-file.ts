import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { runInNewContext } from 'node:vm'
import { readConfig } from '../../../config/file/read-config.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { readYaml } from '../../yaml-file.ts'

/** Milliseconds. As in PM2. */
const timeout = 1000

/** A module is run, as by PM2. */
export async function readPm2File(file: string): Promise<unknown> {
  if (/\.ya?ml$/i.test(file)) return await readYaml(file)
  if (!/\.json5?$/i.test(file)) return await readConfig(file, { env: process.env, root: dirname(file) })
  const text = await readFile(file, 'utf8')
  try {
    // PM2 evaluates its JSON as an expression, so these files have comments and keys without
    // quotes.
    const value: unknown = runInNewContext(
      `(${text.replace(/^\uFEFF/, '')}\n)`,
      { process },
      { filename: file, timeout },
    )
    return JSON.parse(JSON.stringify(value))
  } catch (cause) {
    throw new BusbarError('CONFIG_UNREADABLE', {
      message: `${file} cannot be read: ${(cause as Error).message}`,
      cause,
    })
  }
}
