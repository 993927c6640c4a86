import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BusbarError } from '../../contract/errors.ts'

/**
 * The lab, installed beside Busbar or in the working directory. Throws USAGE. `command`: what needs
 * it.
 */
export async function findLab(cwd: string, command: string): Promise<unknown> {
  const origins = [import.meta.url, pathToFileURL(join(cwd, 'package.json')).href]
  const found = origins.map((origin) => resolveFrom(origin)).find((file) => file !== undefined)
  if (found !== undefined) return await import(found)
  throw new BusbarError('USAGE', {
    message: `busbar ${command} needs the lab, which is not installed`,
    hint:
      command === 'try'
        ? 'Run npx --package busbar --package busbar-lab busbar try, or npm install --save-dev busbar-lab.'
        : 'Run npm install --save-dev busbar-lab.',
  })
}

/** Not a plain import: the lab depends on Busbar, not the other way round. */
function resolveFrom(origin: string): string | undefined {
  try {
    return pathToFileURL(createRequire(origin).resolve('busbar-lab')).href
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
