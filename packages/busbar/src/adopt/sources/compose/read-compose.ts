import { dirname, posix, relative, resolve } from 'node:path'
import { readPackageJson } from '../../../config/file/package-json.ts'
import { isPlainObject } from '../../../config/schema/placeholders.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { ImportDraft } from '../../import-draft.ts'
import type { Imported } from '../../imported.ts'
import { applyRules, literal, textOf } from '../../key-rules.ts'
import { applyLaunch } from '../../launch/apply-launch.ts'
import { isFolder, parseLaunch } from '../../launch/launch.ts'
import { workingFolder } from '../../launch/working-folder.ts'
import { readYaml } from '../../yaml-file.ts'
import type { ComposeNames } from './container-hosts.ts'
import { commandWords, composeVariables } from './compose-text.ts'
import { composeRules } from './compose-rules.ts'
import { readDockerfile } from './dockerfile.ts'

type Fields = Readonly<Record<string, unknown>>

interface Container {
  readonly name: string
  readonly fields: Fields
  /** Absolute: what the working directory of the container is on this machine. */
  readonly folder: string
  /** What the container runs, as a shell reads it. */
  readonly line: string
  readonly env: Readonly<Record<string, string>>
}

const topLevel: Readonly<Record<string, string>> = {
  version: 'Compose itself ignores it',
  name: 'the name of the app is that of its package.json or folder',
  include: 'import the other file on its own',
  networks: 'services call each other by http://<name>.internal, without a network of their own',
  volumes: 'a service sees the files of this machine',
  secrets: 'write ${file:<path>} into env',
  configs: 'a service sees the files of this machine',
  models: 'Busbar starts no models',
}

/**
 * `compose.yaml`: containers that are built here, or that run Node over a folder of this machine.
 */
export async function importCompose(file: string): Promise<Imported> {
  const draft = new ImportDraft('compose', file, dirname(file))
  const content = await readYaml(file)
  const services = isPlainObject(content) && isPlainObject(content['services']) ? content['services'] : undefined
  if (services === undefined)
    throw new BusbarError('CONFIG_INVALID', {
      message: `${file} has no services`,
      hint: 'Give the path of a compose.yaml.',
    })
  const containers: Container[] = []
  for (const [name, fields] of Object.entries(services)) {
    const found = isPlainObject(fields) ? await containerOf(name, fields, draft.root) : 'it is not an object'
    if (typeof found === 'string') draft.leaveOut(undefined, name, found)
    else containers.push(found)
  }
  const hosted = new Set(containers.map(({ name }) => name))
  const names: ComposeNames = { all: new Set(Object.keys(services)), hosted }
  for (const container of containers) await importContainer(container, names, draft)
  for (const key of Object.keys(content as object).filter((name) => name !== 'services'))
    draft.report(key, {
      why: topLevel[key] ?? (key.startsWith('x-') ? 'it is an extension' : 'Compose has no such key'),
    })
  return draft.finish()
}

/** What only passes signals on, as process 1 of a container. */
const firstProcess = /^(?:\S*\/)?(?:tini|dumb-init)\s+(?:-\w+\s+)*(?:--\s+)?/

async function importContainer(
  { name, fields, folder: context, line, env }: Container,
  names: ComposeNames,
  draft: ImportDraft,
): Promise<void> {
  const service = draft.addService(name)
  const { folder, rest } = await workingFolder(line.replace(firstProcess, ''), context)
  const launch = await parseLaunch(rest, folder)
  if (launch.kind === 'program') service.config.run = 'process'
  const variables = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, literal(value)]))
  if (Object.keys(variables).length > 0) service.config.env = variables
  if (!(await applyLaunch({ service, folder, launch }, draft))) return
  // What the program listens on inside its container reaches nobody.
  service.port = undefined
  const otherwise = 'Compose has no such key'
  const given = { service, names, root: draft.root }
  applyRules(composeRules, { at: `services.${name}`, object: fields, context: given, otherwise }, draft)
}

/** A text says why Busbar cannot run it. */
async function containerOf(name: string, fields: Fields, root: string): Promise<Container | string> {
  if (Array.isArray(fields['profiles']) && fields['profiles'].length > 0) return 'it starts only with a profile'
  const { build } = fields
  if (build !== undefined) return await builtContainer(name, fields, root)
  const image = textOf(fields['image'], '')
  const folder = /^(?:docker\.io\/)?(?:library\/)?node(?::|$)/.test(image) ? mountedFolder(fields, root) : undefined
  if (folder === undefined) return `it is the image ${image}: keep it in Compose, and call it by its published port`
  const line = [fields['entrypoint'], fields['command']].map(commandWords).filter(Boolean).join(' ')
  return line === '' ? 'it starts nothing' : { name, fields, folder, line, env: {} }
}

async function builtContainer(name: string, fields: Fields, root: string): Promise<Container | string> {
  const build = isPlainObject(fields['build']) ? fields['build'] : { context: fields['build'] }
  const context = textOf(build['context'], '.')
  const folder = resolve(root, context)
  if (/^(https?|git|ssh):/.test(context) || !(await isFolder(folder))) return `${context} is no folder of this machine`
  const target = textOf(build['target'], '') || undefined
  const args = composeVariables(build['args'])
  const dockerfile = await readDockerfile(folder, textOf(build['dockerfile'], 'Dockerfile'), { target, args })
  const own = commandWords(fields['command'])
  const entrypoint = commandWords(fields['entrypoint'])
  const parts = [entrypoint ?? (own && dockerfile?.entrypoint), own].filter(Boolean)
  const line = parts.length === 0 ? dockerfile?.command : parts.join(' ')
  const env = dockerfile?.env ?? {}
  const workdir = textOf(fields['working_dir'], dockerfile?.workdir ?? '/')
  if (line !== undefined) return { name, fields, folder, line: withoutWorkdir(line, workdir), env }
  const hasPackage = (await readPackageJson(folder)) !== undefined
  return hasPackage
    ? { name, fields, folder, line: 'npm start', env }
    : `${relative(root, folder) || '.'} has neither a CMD in its Dockerfile nor a package.json`
}

/** The image has the folder at its working directory, so paths below it become relative. */
function withoutWorkdir(line: string, workdir: string): string {
  return workdir === '/' ? line : line.replaceAll(`${posix.normalize(workdir).replace(/\/$/, '')}/`, './')
}

/** The folder of this machine that a volume puts at the working directory. */
function mountedFolder({ volumes, working_dir: workdir }: Fields, root: string): string | undefined {
  if (typeof workdir !== 'string' || !Array.isArray(volumes)) return undefined
  for (const volume of volumes as unknown[]) {
    const [source, target] = isPlainObject(volume) ? [volume['source'], volume['target']] : String(volume).split(':')
    if (typeof source !== 'string' || typeof target !== 'string' || !/^[./~]/.test(source)) continue
    const inside = posix.relative(target, workdir)
    if (!inside.startsWith('..')) return resolve(root, source, inside)
  }
  return undefined
}
