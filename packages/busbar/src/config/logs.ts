import { resolve } from 'node:path'
import type { LogSettings } from './app.ts'
import type { Problems } from './problems.ts'
import type { ParsedConfig } from './schema/app-schema.ts'
import { logFiles } from './schema/logs-schema.ts'

/** One file that is written, one that is compressed, and its compressed copy. */
const leastFiles = 3

/** Makes the folder absolute, and fills in defaults where only the folder is given. */
export function resolveLogs(root: string, { logs }: ParsedConfig, problems: Problems): LogSettings {
  const { stdout, rate, redact = [] } = logs
  const files = typeof logs.files === 'string' ? logFiles.parse({ folder: logs.files }) : logs.files
  if (files === undefined) return { stdout, rate, redact, files }
  if (files.maxTotal < leastFiles * files.maxSize)
    problems.add('CONFIG_INVALID', {
      message: `logs.files.maxTotal is ${files.maxTotal} bytes, and must be at least ${leastFiles} times maxSize, which is ${files.maxSize}`,
      hint: 'Raise maxTotal, or lower maxSize.',
    })
  return { stdout, rate, redact, files: { ...files, folder: resolve(root, files.folder) } }
}
