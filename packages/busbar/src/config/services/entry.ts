import { basename, dirname, join, resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import type { Entry } from '../app.ts'
import { nearest } from '../nearest.ts'
import { type PackageFile, readPackageFile } from '../file/package-file.ts'
import { firstFile, kindOf, namesIn } from '../file/places.ts'
import { checkEntryIsProgram, checkFolderIsProgram } from './recursion.ts'
import { parseStartScript, type StartScript } from './start-script.ts'

/** An entry, and what its start script sets for it. */
export interface FoundEntry {
  readonly entry: Entry
  /** Undefined unless the entry was found by `scripts.start`. */
  readonly script: StartScript | undefined
}

const stems = ['index', 'server', 'app'] as const
const extensions = ['.ts', '.mts', '.js', '.mjs', '.cjs'] as const

/**
 * Finds the module that starts a program: `entry` of the config, `scripts.start` where that is `node …`, `main`,
 * then `index.*`, `server.*`, `app.*`. Throws SERVICE_ENTRY_NOT_FOUND, which lists what was tried.
 */
export async function findEntry(
  folder: string,
  service: string,
  entry: string | undefined,
  namedBy = 'entry',
): Promise<FoundEntry> {
  const found =
    entry === undefined
      ? await searchEntry(folder, service)
      : plain(await configuredEntry(folder, service, entry), namedBy)
  await checkEntryIsProgram(service, found.entry.file)
  return found
}

/** `index.*`, `server.*` or `app.*` of a folder. */
export function findConventional(folder: string, names: readonly string[] = stems): Promise<string | undefined> {
  return firstFile(names.flatMap((stem) => extensions.map((extension) => join(folder, stem + extension))))
}

/** `contract.*` of a folder: what makes it a typed service, known without loading anything. */
export function findContract(folder: string): Promise<string | undefined> {
  return firstFile(extensions.map((extension) => join(folder, `contract${extension}`)))
}

/** A typed service's module: `entry` of the config, else `index.*`, whatever its package's `start` does besides. */
export async function findTypedEntry(folder: string, service: string, entry: string | undefined): Promise<FoundEntry> {
  if (entry !== undefined) return findEntry(folder, service, entry)
  const index = await findConventional(folder, ['index'])
  if (index !== undefined) return findEntry(folder, service, basename(index), basename(index))
  throw new BusbarError('SERVICE_ENTRY_NOT_FOUND', {
    service,
    message: `service ${service}: ${folder} has a contract and no index.*, which would implement it`,
    hint: 'Write index.ts with `export default contract.implement({ … })`, or name another file with `entry`.',
  })
}

async function searchEntry(folder: string, service: string): Promise<FoundEntry> {
  const found = await readPackageFile(folder)
  const start = found?.scripts['start']
  const script = start === undefined ? undefined : parseStartScript(start)
  if (script !== undefined) return scriptEntry(folder, service, script)
  const main = found?.main === undefined ? undefined : await resolveModule(resolve(folder, found.main))
  if (main !== undefined) return plain(main, 'main')
  const conventional = await findConventional(folder)
  if (conventional !== undefined) return plain(conventional, basename(conventional))
  await checkFolderIsProgram(service, folder)
  throw nothingFound(folder, service, found)
}

function plain(file: string, foundBy: string): FoundEntry {
  return { entry: { file, args: [], nodeOptions: [], foundBy }, script: undefined }
}

async function configuredEntry(folder: string, service: string, entry: string): Promise<string> {
  const file = resolve(folder, entry)
  const kind = await kindOf(file)
  if (kind === 'file') return file
  const near = nearest(basename(file), await namesIn(dirname(file)))
  throw new BusbarError('SERVICE_ENTRY_NOT_FOUND', {
    service,
    message: `services.${service}.entry is ${entry}, but ${file} ${kind === 'folder' ? 'is a folder' : 'does not exist'}`,
    hint:
      near === undefined || kind === 'folder'
        ? 'Name the file that starts the program.'
        : `Did you mean ${join(dirname(entry), near)}?`,
  })
}

async function scriptEntry(folder: string, service: string, script: StartScript): Promise<FoundEntry> {
  const file = await resolveModule(resolve(folder, script.file))
  if (file === undefined)
    throw new BusbarError('SERVICE_ENTRY_NOT_FOUND', {
      service,
      message: `service ${service}: scripts.start of ${join(folder, 'package.json')} runs ${script.file}, which does not exist`,
      hint: 'Build the program first, or name another file with `entry`.',
    })
  const { args, nodeOptions } = script
  return { entry: { file, args, nodeOptions, foundBy: 'scripts.start' }, script }
}

/** As `node <file>` finds it: the file, the same with an extension, or what a folder holds. */
async function resolveModule(path: string): Promise<string | undefined> {
  const named = await firstFile([path, ...extensions.map((extension) => path + extension)])
  if (named !== undefined || (await kindOf(path)) !== 'folder') return named
  const main = (await readPackageFile(path))?.main
  const inside = main === undefined ? undefined : await firstFile([join(path, main), join(path, `${main}.js`)])
  return inside ?? firstFile(extensions.map((extension) => join(path, `index${extension}`)))
}

function nothingFound(folder: string, service: string, found: PackageFile | undefined): BusbarError {
  const start = found?.scripts['start']
  const tried = [
    found === undefined ? 'package.json (there is none)' : scriptTried(start),
    ...(found === undefined
      ? []
      : [found.main === undefined ? 'main (not given)' : `main (${found.main} does not exist)`]),
    ...stems.map((stem) => `${stem}.*`),
  ]
  return new BusbarError('SERVICE_ENTRY_NOT_FOUND', {
    service,
    message: `service ${service}: no module to start was found in ${folder}; tried ${tried.join(', ')}`,
    hint: `Name it with \`entry\`. (* stands for ${extensions.map((extension) => extension.slice(1)).join(', ')}.)`,
  })
}

function scriptTried(start: string | undefined): string {
  return start === undefined ? 'scripts.start (not given)' : `scripts.start (\`${start}\` is not one call of node)`
}
