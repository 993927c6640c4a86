/** Which files of a folder say what runs there today. */
import { basename, dirname, join } from 'node:path'
import { listFolder, pathKind } from '../../config/file/file-lookup.ts'
import { findConventional } from '../../config/services/entry.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { Imported, SourceKind } from '../imported.ts'
import { importCompose } from './compose/read-compose.ts'
import { importPm2 } from './pm2/read-pm2.ts'
import { importProcfile } from './procfile.ts'
import { importWatt } from './watt/read-watt.ts'
import { hasParallelScript, importParallelScript } from './parallel-script.ts'
import { workspacePatterns } from '../workspace-packages.ts'
import { hasPackageFolders, importFolders, importProgram, importWorkspaces } from './workspaces.ts'

export interface Source {
  readonly kind: SourceKind
  /** Absolute path of the file, or of the folder where there is none. */
  readonly path: string
}

/** What a name says. The file that says most about its services comes first. */
const fileNames: readonly (readonly [SourceKind, RegExp])[] = [
  ['pm2', /^(?:ecosystem|pm2|process)\.(?:config\.(?:[cm]?js|ts|mts)|(?:config\.)?(?:json5?|ya?ml))$/],
  ['watt', /^(?:watt|wattpm|platformatic)(?:\.(?:runtime|application|service))?\.json$/],
  ['procfile', /^Procfile(?:\.\w+)?$/],
  ['compose', /^(?:docker-)?compose(?:\.[\w-]+)?\.ya?ml$/],
]

const importers: Readonly<Record<SourceKind, (path: string) => Promise<Imported>>> = {
  pm2: importPm2,
  watt: importWatt,
  procfile: importProcfile,
  compose: importCompose,
  workspaces: importWorkspaces,
  script: importParallelScript,
  program: importProgram,
  folders: importFolders,
}

/** Throws CONFIG_INVALID if there is no service. */
export async function importSource({ kind, path }: Source): Promise<Imported> {
  const imported = await importers[kind](path)
  if (Object.keys(imported.config.services ?? {}).length > 0) return imported
  const reasons = imported.leftOut.map(({ name, why }) => `${name}: ${why}`)
  throw new BusbarError('CONFIG_INVALID', {
    message: [`${path} has nothing that Busbar could run`, ...reasons].join('; '),
    hint: 'Busbar runs programs and commands that listen.',
  })
}

/** In the order in which they are preferred. Files of one kind: the shortest name first. */
export async function findSources(root: string): Promise<Source[]> {
  const names = (await listFolder(root)).toSorted((one, other) => one.length - other.length)
  const files = fileNames.flatMap(([kind, pattern]) =>
    names.filter((name) => pattern.test(name)).map((name): Source => ({ kind, path: join(root, name) })),
  )
  const isMonorepo = (await workspacePatterns(root)) !== undefined
  const isProgram = names.includes('package.json') || (await findConventional(root)) !== undefined
  return [
    ...files,
    ...(isMonorepo ? [{ kind: 'workspaces', path: root } as const] : []),
    ...((await hasParallelScript(root)) ? [{ kind: 'script', path: root } as const] : []),
    ...(isProgram ? [{ kind: 'program', path: root } as const] : []),
    ...((await hasPackageFolders(root)) ? [{ kind: 'folders', path: root } as const] : []),
  ]
}

/**
 * The services of a repository, by the first source that has any. Undefined if there are none.
 * Rejects only if no source can be read.
 */
export async function findServices(root: string): Promise<Imported | undefined> {
  let fault: unknown
  for (const source of await findSources(root)) {
    try {
      return await importSource(source)
    } catch (error) {
      fault ??= error
    }
  }
  if (fault === undefined) return undefined
  throw fault
}

/** The file that `busbar import` was given. Throws CONFIG_NOT_FOUND and USAGE. */
export async function sourceAt(location: string): Promise<Source> {
  const kind = await pathKind(location)
  if (kind === 'missing')
    throw new BusbarError('CONFIG_NOT_FOUND', { message: `${location} does not exist`, hint: supported })
  if (kind === 'file') return fileSource(location)
  const [first, second] = (await findSources(location)).filter(({ kind: found }) =>
    fileNames.some(([file]) => file === found),
  )
  if (first === undefined)
    throw new BusbarError('CONFIG_NOT_FOUND', {
      message: `${location} has no file that busbar import reads`,
      hint: `${supported} For anything else: busbar init.`,
    })
  if (second === undefined || second.kind === first.kind) return first
  const names = [first, second].map(({ path }) => basename(path)).join(' and ')
  throw new BusbarError('USAGE', {
    message: `${location} has ${names}`,
    hint: `Give one of them, as in busbar import ${basename(first.path)}.`,
  })
}

const supported = 'It reads ecosystem.config.*, watt.json, platformatic.json, Procfile and compose.yaml.'

/** An unusual name is recognised by what the file is about. */
function fileSource(path: string): Source {
  const name = basename(path)
  const [kind] = fileNames.find(([, pattern]) => pattern.test(name)) ?? []
  if (kind !== undefined) return { kind, path }
  if (/procfile/i.test(name)) return { kind: 'procfile', path }
  if (/compose/i.test(name)) return { kind: 'compose', path }
  if (/\.(?:[cm]?js|ts|json5?|ya?ml)$/.test(name)) return { kind: 'pm2', path }
  throw new BusbarError('USAGE', {
    message: `${path} is no file that busbar import reads`,
    hint: `${supported} Folder: ${dirname(path)}`,
  })
}
