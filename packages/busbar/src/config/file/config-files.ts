import { basename, join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { namesIn } from './places.ts'

export const configExtensions = ['ts', 'mts', 'js', 'mjs', 'cjs', 'json'] as const

const configNames = configExtensions.map((extension) => `busbar.config.${extension}`)

export function isConfigFile(file: string): boolean {
  return configNames.includes(basename(file))
}

/** The config of a folder, if it has one; two are an error. */
export async function findConfig(folder: string): Promise<string | undefined> {
  const names = await namesIn(folder)
  const [first, second] = configNames.filter((name) => names.includes(name))
  if (first !== undefined && second !== undefined)
    throw new BusbarError('CONFIG_INVALID', {
      message: `${folder} has two configs: ${first} and ${second}`,
      hint: 'Keep one of them.',
    })
  return first && join(folder, first)
}
