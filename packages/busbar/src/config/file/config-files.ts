import { basename, join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { namesIn } from './places.ts'

export const configExtensions = ['ts', 'mts', 'js', 'mjs', 'cjs', 'json'] as const

const configNames = configExtensions.map((extension) => `busbar.config.${extension}`)

/** Whether a file that was named is a config: any JSON is, and a module that says so. */
export function isConfigFile(file: string): boolean {
  return /\.json$|\.config\.[cm]?[jt]s$/i.test(basename(file))
}

/** Why a file that was named can be neither a config nor a program; undefined where it can. */
export function whyNotRead(file: string): string | undefined {
  const name = basename(file)
  if (/^(?:package|package-lock|tsconfig.*)\.json$/.test(name)) return `${name} says nothing of services`
  const [data] = /\.(?:ya?ml|toml|jsonc|json5|ini|env)$/i.exec(name) ?? []
  return data && `configs are modules or JSON, not ${data}`
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
