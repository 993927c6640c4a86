import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { positionText } from './json-text.ts'
import { isPlainObject } from '../schema/placeholders.ts'

/** What of a `package.json` says how a program starts and what it uses. */
export interface PackageFile {
  readonly name: string | undefined
  readonly version: string | undefined
  readonly main: string | undefined
  readonly type: string | undefined
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: readonly string[]
}

/** Undefined where the folder has none. */
export async function readPackageFile(folder: string): Promise<PackageFile | undefined> {
  const file = join(folder, 'package.json')
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch {
    return undefined
  }
  return fromText(text, file)
}

function fromText(text: string, file: string): PackageFile {
  let found: unknown
  try {
    found = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new BusbarError('CONFIG_UNREADABLE', {
      message: `${file} is no valid JSON: ${positionText(text, error)}`,
      cause: error,
    })
  }
  const content = isPlainObject(found) ? found : {}
  return {
    name: textOf(content['name']),
    version: textOf(content['version']),
    main: textOf(content['main']),
    type: textOf(content['type']),
    scripts: Object.fromEntries(
      entriesOf(content['scripts']).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
    dependencies: [...entriesOf(content['dependencies']), ...entriesOf(content['optionalDependencies'])].map(
      ([name]) => name,
    ),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function entriesOf(value: unknown): [string, unknown][] {
  return isPlainObject(value) ? Object.entries(value) : []
}
