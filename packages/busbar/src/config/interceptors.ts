import { resolve } from 'node:path'
import { BusbarError } from '../contract/errors.ts'
import { kindOf, nearestPath } from './file/places.ts'

/** Absolute, where the config names one. Throws CONFIG_INVALID where there is no such file. */
export async function findInterceptors(root: string, said: string | undefined): Promise<string | undefined> {
  if (said === undefined) return undefined
  const file = resolve(root, said)
  if ((await kindOf(file)) === 'file') return file
  const near = await nearestPath(file)
  throw new BusbarError('CONFIG_INVALID', {
    message: `interceptors: ${file} is no file${near === undefined ? '' : `; the nearest is ${near}`}`,
    hint: 'Name the module with its extension, relative to the folder of the config.',
  })
}
