import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { BusbarError } from '../../contract/errors.ts'
import { pathKind } from '../file/file-lookup.ts'
import type { StartScript } from './start-script.ts'

type Variables = Readonly<Record<string, string>>

export interface EnvSources {
  readonly service: string
  /** The folder of the config. */
  readonly root: string
  /** The folder of the service. */
  readonly path: string
  readonly script: StartScript | undefined
  readonly defaults: { readonly env?: Variables | undefined; readonly envFile?: string | undefined }
  readonly own: { readonly env?: Variables | undefined; readonly envFile?: string | undefined }
  readonly processEnv: Readonly<NodeJS.ProcessEnv>
}

/**
 * A service's own variables. Later sources override earlier ones: the start script,
 * `defaults.envFile`, `defaults.env`, the service's `envFile`, its `env`.
 */
export async function readServiceEnv(sources: EnvSources): Promise<Record<string, string>> {
  const { defaults, own, script } = sources
  return {
    ...(await scriptFiles(sources)),
    ...script?.env,
    ...(defaults.envFile !== undefined && (await configuredFile(sources, defaults.envFile, 'defaults.envFile'))),
    ...defaults.env,
    ...(own.envFile !== undefined &&
      (await configuredFile(sources, own.envFile, `services.${sources.service}.envFile`))),
    ...own.env,
  }
}

/** As with `node --env-file`, variables of the process keep their values. */
async function scriptFiles({ script, path, processEnv, service }: EnvSources): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { file, optional } of script?.envFiles ?? []) {
    const absolute = resolve(path, file)
    if (optional && (await pathKind(absolute)) === 'missing') continue
    Object.assign(found, await readEnvFile(absolute, `service '${service}': --env-file of scripts.start`))
  }
  return Object.fromEntries(Object.entries(found).filter(([name]) => processEnv[name] === undefined))
}

async function configuredFile(
  { root, path }: EnvSources,
  file: string,
  where: string,
): Promise<Record<string, string>> {
  const inService = join(path, file)
  const isInService = path !== root && (await pathKind(inService)) === 'file'
  const hint = isInService ? `Paths are relative to the folder of the config. Did you mean ${inService}?` : undefined
  return readEnvFile(resolve(root, file), where, hint)
}

async function readEnvFile(file: string, where: string, hint?: string): Promise<Record<string, string>> {
  try {
    const text = await readFile(file, 'utf8')
    // A variable ends there, and Node's error would show its value.
    if (text.includes('\0')) throw new Error('it has a NUL character, so it is not text')
    return parseEnv(text) as Record<string, string>
  } catch (error) {
    throw new BusbarError('ENV_FILE_UNREADABLE', {
      message: `${where}: ${file} cannot be read: ${(error as Error).message}`,
      hint: hint ?? 'Create the file, or remove the key.',
      cause: error,
    })
  }
}
