/** The `watt.json` of one application: how it starts. */
import { basename, join } from 'node:path'
import { firstExistingFile } from '../../../config/file/file-lookup.ts'
import { readPackageJson } from '../../../config/file/package-json.ts'
import { isPlainObject } from '../../../config/schema/placeholders.ts'
import { type KeyRules, type KeyOutcome, applyRules, textOf } from '../../key-rules.ts'
import type { ImportDraft } from '../../import-draft.ts'
import type { ServiceDraft } from '../../imported.ts'
import { type Launch, parseLaunch } from '../../launch/launch.ts'
import { readWattJson } from './watt-text.ts'

export type ApplicationKind =
  | { readonly kind: 'launch'; readonly launch: Launch }
  /** A gateway of Platformatic: only its routes count. */
  | { readonly kind: 'gateway'; readonly at: string; readonly fields: Fields }
  | { readonly kind: 'unsupported'; readonly why: string }

export type Fields = Readonly<Record<string, unknown>>

export interface ApplicationFile {
  /** Relative to the root. '' if there is none. */
  readonly at: string
  readonly fields: Fields
}

const names = ['watt.json', 'platformatic.json', 'platformatic.application.json', 'platformatic.service.json']

export async function readApplicationFile(folder: string, named: unknown, root: string): Promise<ApplicationFile> {
  const candidates = typeof named === 'string' ? [named] : names
  const file = await firstExistingFile(candidates.map((name) => join(folder, name)))
  if (file === undefined) return { at: '', fields: {} }
  return { at: file.slice(root.length + 1), fields: await readWattJson(file) }
}

/** How frameworks start that serve pages, if no script says it. */
const starts: Readonly<Record<string, string>> = {
  next: 'next start -p $PORT',
  vite: 'vite preview --port $PORT --strictPort',
  astro: 'astro preview --port $PORT',
  remix: 'remix-serve build/server/index.js',
  'react-router': 'react-router-serve build/server/index.js',
  nuxt: 'node .output/server/index.mjs',
  nitro: 'node .output/server/index.mjs',
  nest: 'node dist/main.js',
  tanstack: 'node .output/server/index.mjs',
}

export async function applicationKind(folder: string, { at, fields }: ApplicationFile): Promise<ApplicationKind> {
  const capability = await capabilityOf(folder, fields)
  if (capability === 'gateway' || capability === 'composer') return { kind: 'gateway', at, fields }
  if (/^(service|db|php|python|ai|wasm|globals)/.test(capability))
    return {
      kind: 'unsupported',
      why: `it is a folder for @platformatic/${capability}, not a program: give it an entry that listens`,
    }
  const node = isPlainObject(fields['node']) ? fields['node'] : {}
  if (node['hasServer'] === false)
    return { kind: 'unsupported', why: 'it has no server (node.hasServer), and Busbar runs services that listen' }
  const line = lineOf(fields, node)
  if (line !== undefined) return { kind: 'launch', launch: await parseLaunch(line, folder) }
  const found = await readPackageJson(folder)
  const start = found?.scripts['start']
  if (start !== undefined && !/\bwattpm\b|\bplatformatic\b/.test(start))
    return { kind: 'launch', launch: await parseLaunch(start, folder) }
  const usual = starts[capability]
  if (usual !== undefined) return { kind: 'launch', launch: await parseLaunch(usual, folder) }
  const main = found?.main ?? (await conventional(folder))
  if (main !== undefined) return { kind: 'launch', launch: await parseLaunch(`node ${main}`, folder) }
  return {
    kind: 'unsupported',
    why: `${basename(folder)} has no start script, no main and no index.*, server.* or app.*`,
  }
}

function lineOf(fields: Fields, node: Fields): string | undefined {
  const application = isPlainObject(fields['application']) ? fields['application'] : {}
  const commands = isPlainObject(application['commands']) ? application['commands'] : {}
  const command = commands['production']
  if (typeof command === 'string' && command !== '') return command
  return typeof node['main'] === 'string' ? `node ${node['main']}` : undefined
}

async function conventional(folder: string): Promise<string | undefined> {
  const stems = ['index', 'server', 'app', 'main']
  const files = stems.flatMap((stem) =>
    ['.ts', '.mts', '.js', '.mjs', '.cjs'].map((extension) => join(folder, stem + extension)),
  )
  const found = await firstExistingFile(files)
  return found === undefined ? undefined : basename(found)
}

/**
 * `@platformatic/next` in `$schema` or `module`; else by the package's dependencies, as Watt does.
 */
async function capabilityOf(folder: string, { $schema, module }: Fields): Promise<string> {
  const [, named] = /@platformatic\/([\w-]+)/.exec(`${textOf(module, '')} ${textOf($schema, '')}`) ?? []
  if (named !== undefined) return named
  const dependencies = (await readPackageJson(folder))?.dependencies ?? []
  const known = new Set(
    dependencies.map((name) =>
      name
        .replace(/^@platformatic\//, '')
        .replace(/^@nestjs\/core$/, 'nest')
        .replace(/^@remix-run\/(dev|node)$/, 'remix'),
    ),
  )
  return Object.keys(starts).find((name) => known.has(name)) ?? 'node'
}

interface FileContext {
  readonly service: ServiceDraft
}

const entry = ({ service }: FileContext): { to: string } => ({ to: `services.${service.name}.entry` })

const fileRules: KeyRules<FileContext> = {
  $schema: () => ({ to: 'how it starts' }),
  module: () => ({ to: 'how it starts' }),
  node: entry,
  application: ({ service }, value) => {
    const commands = isPlainObject(value) && isPlainObject(value['commands']) ? value['commands'] : {}
    if (typeof commands['build'] === 'string') service.config.build = commands['build']
    return {
      to: `how services.${service.name} starts and is built`,
      note: 'a basePath needs a route with strip: false',
    }
  },
  watch: 'busbar dev watches the files of all services',
  runtime: 'it is for the application alone, without Watt',
  server: 'a service has no public port of its own unless it has expose',
  logger: 'a program writes its log as it does alone',
  telemetry: 'Busbar writes no traces',
}

const ofFramework = 'it is for a framework: write it into the config of the framework, or a flag of its command'

/** What becomes of a key, if the file is also that of the runtime. */
export function fileOutcome(key: string, value: unknown, service: ServiceDraft): KeyOutcome {
  const rule = fileRules[key] ?? ofFramework
  return typeof rule === 'string' ? { why: rule } : rule({ service }, value, key)
}

/** Reports the keys of the file. */
export function reportFile(file: ApplicationFile, service: ServiceDraft, draft: ImportDraft): void {
  if (file.at === '') return
  applyRules(fileRules, { at: file.at, object: file.fields, context: { service }, otherwise: ofFramework }, draft)
}
