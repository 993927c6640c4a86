import { dirname, extname, join } from 'node:path'
import { BusbarError } from '../contract/errors.ts'
import { configExtensions, findConfig, isConfigFile, whyNotRead } from './file/config-files.ts'
import { findConventional } from './services/entry.ts'
import { firstFile, kindOf, namesIn, nearestPath } from './file/places.ts'

/** What `busbar start <place>` was pointed at. */
export type Found =
  | { readonly kind: 'config'; readonly root: string; readonly file: string }
  /** One program without a config; `file` where it was named itself. */
  | { readonly kind: 'program'; readonly root: string; readonly file: string | undefined }

/** `place` is absolute: the folder of an app, a config, or a program's folder or file. */
export async function locateApp(place: string): Promise<Found> {
  const kind = await kindOf(place)
  if (kind === 'missing') return missing(place)
  if (kind === 'folder') return inFolder(place)
  const reason = whyNotRead(place)
  if (reason !== undefined)
    throw new BusbarError('CONFIG_NOT_FOUND', {
      message: `${place} is neither a config nor a program: ${reason}`,
      hint: 'Give the folder of an app, a config such as busbar.config.ts or other.json, or the folder or file of a Node program.',
    })
  if (isConfigFile(place)) return { kind: 'config', root: dirname(place), file: place }
  return { kind: 'program', root: await packageFolder(dirname(place)), file: place }
}

async function inFolder(root: string): Promise<Found> {
  const file = await findConfig(root)
  if (file !== undefined) return { kind: 'config', root, file }
  const isProgram =
    (await kindOf(join(root, 'package.json'))) === 'file' || (await findConventional(root)) !== undefined
  if (isProgram) return { kind: 'program', root, file: undefined }
  throw new BusbarError('CONFIG_NOT_FOUND', {
    message: `${root} has no busbar.config.* (${configExtensions.join(', ')}), no package.json and no index.*, server.* or app.*`,
    hint: await hintFor(root),
  })
}

async function hintFor(root: string): Promise<string> {
  const names = await namesIn(root)
  const similar = names.find((name) => /^\.?busbar\b/i.test(name) && extname(name) !== '')
  if (similar !== undefined) return `${similar} is not read: name it busbar.config.ts or busbar.config.json.`
  if (names.includes('services'))
    return 'To run what is in services/, write a busbar.config.json: { "defaults": { "run": "shared" } }'
  return 'Give the folder of an app, or the folder or file of a Node program.'
}

async function missing(place: string): Promise<never> {
  const near = await nearestPath(place)
  throw new BusbarError('CONFIG_NOT_FOUND', {
    message: `${place} does not exist`,
    hint:
      near === undefined
        ? 'Give the folder of an app, or the folder or file of a Node program.'
        : `Did you mean ${near}?`,
  })
}

/** The folder that `npm start` would run a file in: the nearest one above with a `package.json`, else its own. */
async function packageFolder(folder: string): Promise<string> {
  const above: string[] = []
  for (let at = folder; ; at = dirname(at)) {
    above.push(join(at, 'package.json'))
    if (dirname(at) === at) break
  }
  const found = await firstFile(above)
  return found === undefined ? folder : dirname(found)
}
