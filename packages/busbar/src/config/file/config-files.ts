import { basename, join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { listFolder } from './file-lookup.ts'

export const configExtensions = ['ts', 'mts', 'js', 'mjs', 'cjs', 'json'] as const

const configNames = configExtensions.map((extension) => `busbar.config.${extension}`)

/** True for any JSON file, and for modules named `*.config.*`. */
export function isConfigFile(file: string): boolean {
  return /\.json$|\.config\.[cm]?[jt]s$/i.test(basename(file))
}

/** Why a file can be neither a config nor a program. Undefined if it can. */
export function whyUnsupported(file: string): string | undefined {
  const name = basename(file)
  if (/^(?:package|package-lock|tsconfig.*)\.json$/.test(name)) return `${name} does not configure services`
  const [data] = /\.(?:ya?ml|toml|jsonc|json5|ini|env)$/i.exec(name) ?? []
  return data && `configs are modules or JSON, not ${data}`
}

/** Path of the folder's config, if there is one. Throws CONFIG_INVALID if there are two. */
export async function findConfig(folder: string): Promise<string | undefined> {
  const names = await listFolder(folder)
  const [first, second] = configNames.filter((name) => names.includes(name))
  if (first !== undefined && second !== undefined)
    throw new BusbarError('CONFIG_INVALID', {
      message: `${folder} has two configs: ${first} and ${second}`,
      hint: 'Keep one of them.',
    })
  return first && join(folder, first)
}
