import { basename, dirname, join, resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import type { EntryModule } from '../app.ts'
import { nearest } from '../nearest.ts'
import { type PackageJson, readPackageJson } from '../file/package-json.ts'
import { firstExistingFile, pathKind, listFolder, whyUnreadable } from '../file/file-lookup.ts'
import { checkEntryIsProgram, checkFolderIsProgram } from './nested-app.ts'
import { parseStartScript, type StartScript } from './start-script.ts'

/** An entry, and the start script by which it was found. */
export interface FoundEntry {
  readonly entry: EntryModule
  /** Undefined if the entry was found otherwise. */
  readonly script: StartScript | undefined
}

const stems = ['index', 'server', 'app'] as const
const extensions = ['.ts', '.mts', '.js', '.mjs', '.cjs'] as const

/**
 * Finds the module that starts a program: `entry` of the config, `scripts.start` if that is `node
 * …`, `main`, then `index.*`, `server.*`, `app.*`. Throws SERVICE_ENTRY_NOT_FOUND, which lists what
 * was tried.
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
      : entryAt(await configuredEntry(folder, service, entry), namedBy)
  await checkReadable('SERVICE_ENTRY_NOT_FOUND', service, found.entry.file)
  await checkEntryIsProgram(service, found.entry.file)
  return found
}

/** `index.*`, `server.*` or `app.*` of a folder. */
export function findConventional(folder: string, names: readonly string[] = stems): Promise<string | undefined> {
  return firstExistingFile(names.flatMap((stem) => extensions.map((extension) => join(folder, stem + extension))))
}

/**
 * `contract.*` of a folder. It makes the folder a typed service, which shows without loading code.
 */
export function findContract(folder: string): Promise<string | undefined> {
  return firstExistingFile(extensions.map((extension) => join(folder, `contract${extension}`)))
}

/** A typed service's module: `entry` of the config, else `index.*`. `scripts.start` is ignored. */
export async function findTypedEntry(folder: string, service: string, entry: string | undefined): Promise<FoundEntry> {
  if (entry !== undefined) return findEntry(folder, service, entry)
  const index = await findConventional(folder, ['index'])
  if (index !== undefined) return findEntry(folder, service, basename(index), basename(index))
  throw new BusbarError('SERVICE_ENTRY_NOT_FOUND', {
    service,
    message: `service '${service}': ${folder} has a contract, but no index.* that implements it`,
    hint: 'Write index.ts with `export default contract.implement({ … })`, or set `entry` to another file.',
  })
}

/** Throws if the path is there, or may be, but not for the user who runs this. */
export async function checkReadable(
  code: 'SERVICE_NOT_FOUND' | 'SERVICE_ENTRY_NOT_FOUND',
  service: string,
  path: string,
): Promise<void> {
  const reason = await whyUnreadable(path)
  if (reason === undefined) return
  throw new BusbarError(code, {
    service,
    message: `service '${service}': ${path} cannot be read: ${reason}`,
    hint: permitHint,
  })
}

/** For a path that is there, but not for the user who runs this. */
export const permitHint =
  'Give it, and the folders above it, to the user who runs the app, or permit that user to read them.'

async function searchEntry(folder: string, service: string): Promise<FoundEntry> {
  const found = await readPackageJson(folder)
  if (found === undefined) await checkReadable('SERVICE_ENTRY_NOT_FOUND', service, join(folder, 'package.json'))
  const start = found?.scripts['start']
  const script = start === undefined ? undefined : parseStartScript(start)
  if (script !== undefined) return scriptEntry(folder, service, script)
  const main = found?.main === undefined ? undefined : await resolveModule(resolve(folder, found.main))
  if (main !== undefined) return entryAt(main, 'main')
  const conventional = await findConventional(folder)
  if (conventional !== undefined) return entryAt(conventional, basename(conventional))
  if (found?.main !== undefined) await checkReadable('SERVICE_ENTRY_NOT_FOUND', service, resolve(folder, found.main))
  await checkFolderIsProgram(service, folder)
  throw nothingFound(folder, service, found)
}

function entryAt(file: string, foundBy: string): FoundEntry {
  return { entry: { file, args: [], nodeOptions: [], foundBy }, script: undefined }
}

async function configuredEntry(folder: string, service: string, entry: string): Promise<string> {
  const file = resolve(folder, entry)
  const kind = await pathKind(file)
  if (kind === 'file') return file
  if (kind === 'missing') await checkReadable('SERVICE_ENTRY_NOT_FOUND', service, file)
  const near = nearest(basename(file), await listFolder(dirname(file)))
  throw new BusbarError('SERVICE_ENTRY_NOT_FOUND', {
    service,
    message: `services.${service}.entry is ${entry}, but ${file} ${kind === 'folder' ? 'is a folder' : 'does not exist'}`,
    hint:
      near === undefined || kind === 'folder'
        ? 'Set it to the file that starts the program.'
        : `Did you mean ${join(dirname(entry), near)}?`,
  })
}

async function scriptEntry(folder: string, service: string, script: StartScript): Promise<FoundEntry> {
  const path = resolve(folder, script.file)
  const file = await resolveModule(path)
  if (file === undefined) {
    await checkReadable('SERVICE_ENTRY_NOT_FOUND', service, path)
    throw new BusbarError('SERVICE_ENTRY_NOT_FOUND', {
      service,
      message: `service '${service}': scripts.start of ${join(folder, 'package.json')} runs ${script.file}, which does not exist`,
      hint: 'Build the program first, or set `entry` to another file.',
    })
  }
  const { args, nodeOptions } = script
  return { entry: { file, args, nodeOptions, foundBy: 'scripts.start' }, script }
}

/**
 * Resolves a path as `node <file>` does: the file, the file with an extension, or a folder's entry.
 */
export async function resolveModule(path: string): Promise<string | undefined> {
  const named = await firstExistingFile([path, ...extensions.map((extension) => path + extension)])
  if (named !== undefined || (await pathKind(path)) !== 'folder') return named
  const main = (await readPackageJson(path))?.main
  const inside = main === undefined ? undefined : await firstExistingFile([join(path, main), join(path, `${main}.js`)])
  return inside ?? firstExistingFile(extensions.map((extension) => join(path, `index${extension}`)))
}

function nothingFound(folder: string, service: string, found: PackageJson | undefined): BusbarError {
  const start = found?.scripts['start']
  const tried = [
    found === undefined ? 'package.json (there is none)' : scriptTried(start),
    ...(found === undefined
      ? []
      : [found.main === undefined ? 'main (not set)' : `main (${found.main} does not exist)`]),
    ...stems.map((stem) => `${stem}.*`),
  ]
  return new BusbarError('SERVICE_ENTRY_NOT_FOUND', {
    service,
    message: `service '${service}': no module to start was found in ${folder}; tried ${tried.join(', ')}`,
    hint: `Set \`entry\` to the module. (* stands for ${extensions.map((extension) => extension.slice(1)).join(', ')}.)`,
  })
}

function scriptTried(start: string | undefined): string {
  return start === undefined ? 'scripts.start (not set)' : `scripts.start (\`${start}\` is not a single call of node)`
}
