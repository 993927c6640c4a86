import { access, constants, stat } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { BusbarError } from '../contract/errors.ts'
import { configExtensions, findConfig, isConfigFile, whyUnsupported } from './file/config-files.ts'
import { findConventional } from './services/entry.ts'
import { firstExistingFile, pathKind, listFolder, closestPath } from './file/file-lookup.ts'

/** What the argument of `busbar start` leads to. */
export type AppLocation =
  | { readonly kind: 'config'; readonly root: string; readonly file: string }
  /** One program without a config. `file` is set if the argument is a file. */
  | { readonly kind: 'program'; readonly root: string; readonly file: string | undefined }

/**
 * `location` is the absolute path of an app's folder, a config, a program's folder or a program's
 * file.
 */
export async function locateApp(location: string): Promise<AppLocation> {
  const kind = await pathKind(location)
  if (kind === 'missing') return missing(location)
  if (kind === 'folder') return inFolder(location)
  const reason = whyUnsupported(location)
  if (reason !== undefined)
    throw new BusbarError('CONFIG_NOT_FOUND', {
      message: `${location} is neither a config nor a program: ${reason}`,
      hint: 'Give the folder of an app, a config such as busbar.config.ts or other.json, or the folder or file of a Node program.',
    })
  if (isConfigFile(location)) return { kind: 'config', root: dirname(location), file: location }
  return { kind: 'program', root: await packageFolder(dirname(location)), file: location }
}

async function inFolder(root: string): Promise<AppLocation> {
  const reason = await whyUnusable(root)
  if (reason !== undefined) throw unusable(root, reason)
  const file = await findConfig(root)
  if (file !== undefined) return { kind: 'config', root, file }
  const isProgram =
    (await pathKind(join(root, 'package.json'))) === 'file' || (await findConventional(root)) !== undefined
  if (isProgram) return { kind: 'program', root, file: undefined }
  throw new BusbarError('CONFIG_NOT_FOUND', {
    message: `${root} has no busbar.config.* (${configExtensions.join(', ')}), no package.json and no index.*, server.* or app.*`,
    hint: await hintFor(root),
  })
}

async function hintFor(root: string): Promise<string> {
  const names = await listFolder(root)
  const similar = names.find((name) => /^\.?busbar\b/i.test(name) && extname(name) !== '')
  if (similar !== undefined) return `${similar} is ignored: rename it to busbar.config.ts or busbar.config.json.`
  if (names.includes('services'))
    return 'To run what is in services/, write a busbar.config.json: { "defaults": { "run": "shared" } }'
  return 'Give the folder of an app, or the folder or file of a Node program.'
}

async function missing(location: string): Promise<never> {
  const reason = await whyUnusable(location)
  if (reason !== undefined) throw unusable(location, reason)
  const near = await closestPath(location)
  throw new BusbarError('CONFIG_NOT_FOUND', {
    message: `${location} does not exist`,
    hint:
      near === undefined
        ? 'Give the folder of an app, or the folder or file of a Node program.'
        : `Did you mean ${near}?`,
  })
}

function unusable(location: string, reason: string): BusbarError {
  return new BusbarError('CONFIG_NOT_FOUND', {
    message: `${location} ${reason}`,
    hint: 'Give the folder of an app, or the folder or file of a Node program, which this user may read.',
  })
}

/** Undefined for a folder that this user may read, and if nothing has this path. */
async function whyUnusable(location: string): Promise<string | undefined> {
  try {
    if (!(await stat(location)).isDirectory()) return 'is neither a file nor a folder'
    await access(location, constants.R_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : `cannot be read: ${message}`
  }
}

/** The nearest folder with a `package.json`, as for `npm start`; else the file's own folder. */
async function packageFolder(folder: string): Promise<string> {
  const above: string[] = []
  for (let at = folder; ; at = dirname(at)) {
    above.push(join(at, 'package.json'))
    if (dirname(at) === at) break
  }
  const found = await firstExistingFile(above)
  return found === undefined ? folder : dirname(found)
}
