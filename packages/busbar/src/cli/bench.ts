import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BusbarError } from '../contract/errors.ts'
import type { Context } from './context.ts'

/** What the lab exports for this command. */
interface Lab {
  command(args: readonly string[]): Promise<number>
}

/** `busbar bench`: hands its arguments to the lab, which is installed beside Busbar or in the folder it is called in. */
export async function bench({ rest, terminal }: Context): Promise<number> {
  const lab = await findLab(terminal.cwd)
  return lab.command(rest)
}

async function findLab(cwd: string): Promise<Lab> {
  const places = [import.meta.url, pathToFileURL(join(cwd, 'package.json')).href]
  const found = places.map((place) => resolveFrom(place)).find((file) => file !== undefined)
  if (found !== undefined) return (await import(found)) as Lab
  throw new BusbarError('USAGE', {
    message: 'busbar bench needs the lab, which is not installed',
    hint: 'npm install --save-dev busbar-lab',
  })
}

/** Not by a plain import: Busbar does not depend on the lab, which depends on Busbar. */
function resolveFrom(place: string): string | undefined {
  try {
    return pathToFileURL(createRequire(place).resolve('busbar-lab')).href
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
