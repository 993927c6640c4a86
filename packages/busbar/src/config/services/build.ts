import { resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import type { ServiceBuild } from '../app.ts'
import { pathKind } from '../file/file-lookup.ts'
import { readPackageJson } from '../file/package-json.ts'
import type { ParsedService } from '../schema/service-schema.ts'
import { splitWords } from './start-script.ts'

export interface BuildSource {
  readonly service: string
  /** Its folder. */
  readonly path: string
  readonly config: ParsedService
}

/** A script that would build the whole app again. */
const buildsApp = /\bbusbar\s+build\b/

/**
 * How a service is built: `build` of the config, else `scripts.build` of its `package.json`.
 * Undefined if there is neither. Throws CONFIG_INVALID.
 */
export async function findBuild({ service, path, config }: BuildSource): Promise<ServiceBuild | undefined> {
  const { build } = config
  if (build === false) return undefined
  const command = typeof build === 'string' ? build : build?.command
  if (command !== undefined) return { commands: [wordsOf(command, service)], text: command }
  // The folder of a command is often that of the app, whose script builds all of it.
  const isOwnFolder = config.path !== undefined || config.command === undefined
  const scripts = isOwnFolder ? ((await readPackageJson(path))?.scripts ?? {}) : {}
  const script = scripts['build']
  if (script === undefined || buildsApp.test(script)) return undefined
  // `node --run` runs a script as npm does, and leaves out those before and after it.
  const names = ['prebuild', 'build', 'postbuild'].filter((name) => scripts[name] !== undefined)
  return { commands: names.map((name) => [process.execPath, '--run', name]), text: `scripts.build: ${script}` }
}

/** Throws SERVICE_NOT_BUILT if what the build creates is not there. */
export async function checkBuilt({ service, path, config }: BuildSource): Promise<void> {
  const { build } = config
  const output = typeof build === 'object' ? build.output : undefined
  if (output === undefined || (await pathKind(resolve(path, output))) !== 'missing') return
  throw notBuilt(service, `${resolve(path, output)} (build.output) does not exist`)
}

export function notBuilt(service: string, why: string, cause?: unknown): BusbarError {
  return new BusbarError('SERVICE_NOT_BUILT', {
    service,
    message: `service '${service}' is not built: ${why}`,
    hint: 'Run busbar build.',
    cause,
  })
}

function wordsOf(command: string, service: string): string[] {
  const words = splitWords(command)
  if (words !== undefined) return words
  throw new BusbarError('CONFIG_INVALID', {
    service,
    message: `services.${service}.build is ${JSON.stringify(command)}, which needs a shell`,
    hint: "Write sh -c '…' to run a shell, or put the command into scripts.build of its package.json.",
  })
}
