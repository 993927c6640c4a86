/** What `busbar init` writes into a folder. */
import { readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { listFolder, pathKind } from '../../config/file/file-lookup.ts'
import { isPlainObject } from '../../config/schema/placeholders.ts'
import { toServiceName } from '../../config/services/service-name.ts'
import { BusbarError } from '../../contract/errors.ts'
import { configText } from '../config-text.ts'
import type { Imported } from '../imported.ts'
import { findServices } from '../sources/find-sources.ts'
import { checkNoConfig, writeNewFile } from '../write-config.ts'
import type { TemplateName } from './template-names.ts'
import { templateFiles } from './templates.ts'
import { makeFolder } from '../../config/file/make-folder.ts'
import { packageVersion } from '../../shared/package-files.ts'

export type Folder =
  /** Empty, or it does not exist. */
  | { readonly kind: 'new'; readonly path: string }
  | { readonly kind: 'existing'; readonly path: string; readonly found: Imported }

/** Throws USAGE for a folder with a config, and CONFIG_NOT_FOUND for one without services. */
export async function inspectFolder(path: string): Promise<Folder> {
  if ((await pathKind(path)) === 'file')
    throw new BusbarError('USAGE', { message: `${path} is a file`, hint: 'Give a folder.' })
  const names = (await listFolder(path)).filter((name) => !/^(?:\.git|\.DS_Store|LICENSE|README\.md)$/i.test(name))
  if (names.length === 0) return { kind: 'new', path }
  await checkNoConfig(path)
  const found = await findServices(path)
  if (found !== undefined) return { kind: 'existing', path, found }
  throw new BusbarError('CONFIG_NOT_FOUND', {
    message: `${path} is not empty, and no service was found in it`,
    hint: 'Services are packages of a workspace, entries of ecosystem.config.*, watt.json, compose.yaml or Procfile, or one program. For a new app give an empty folder.',
  })
}

/** Returns the paths of the files, relative to the folder. */
export async function createApp(folder: string, template: TemplateName): Promise<string[]> {
  const files = templateFiles(template, { name: toServiceName(basename(folder)), version: packageVersion() })
  for (const [path, text] of Object.entries(files)) {
    await makeFolder(dirname(join(folder, path)), 'Give a folder in which this user can write.')
    // A README that was there stays.
    if (path === 'README.md' && (await pathKind(join(folder, path))) === 'file') continue
    await writeNewFile(join(folder, path), text)
  }
  return Object.keys(files)
}

/** Writes the config of what was found, and names `busbar` as a dependency. */
export async function adoptFolder(folder: string, { config, source, leftOut }: Imported): Promise<string[]> {
  const hasPackage = (await pathKind(join(folder, 'package.json'))) === 'file'
  const from = source === folder ? 'the packages of this folder' : basename(source)
  const comments = [
    `Written by busbar init from ${from}. busbar check shows how it would run.`,
    ...leftOut.map(({ name, why }) => `Left out: ${name}: ${why}.`),
  ]
  await writeNewFile(join(folder, 'busbar.config.ts'), configText(config, { canImport: hasPackage, comments }))
  return [
    'busbar.config.ts',
    ...(hasPackage && (await addDependency(join(folder, 'package.json'))) ? ['package.json'] : []),
  ]
}

/** False if it is there already. Keeps the indentation of the file. */
async function addDependency(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8')
  const content: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
  if (!isPlainObject(content)) return false
  const { dependencies, devDependencies } = content
  if ([dependencies, devDependencies].some((list) => isPlainObject(list) && list['busbar'] !== undefined)) return false
  const all = { ...(isPlainObject(dependencies) ? dependencies : {}), busbar: `^${packageVersion()}` }
  const sorted = Object.fromEntries(Object.entries(all).toSorted(([one], [other]) => one.localeCompare(other, 'en')))
  const [, indent = '  '] = /^\{\r?\n([ \t]+)/.exec(text) ?? []
  await writeFile(file, `${JSON.stringify({ ...content, dependencies: sorted }, undefined, indent)}\n`)
  return true
}
