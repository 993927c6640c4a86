import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { describeJsonError } from './json-error.ts'
import { isPlainObject } from '../schema/placeholders.ts'

/** The fields of a `package.json` that Busbar reads. */
export interface PackageJson {
  readonly name: string | undefined
  readonly version: string | undefined
  readonly main: string | undefined
  readonly type: string | undefined
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: readonly string[]
}

/** Undefined if the folder has none. Throws CONFIG_UNREADABLE for invalid JSON. */
export async function readPackageJson(folder: string): Promise<PackageJson | undefined> {
  const file = join(folder, 'package.json')
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch {
    return undefined
  }
  return fromText(text, file)
}

function fromText(text: string, file: string): PackageJson {
  let found: unknown
  try {
    found = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new BusbarError('CONFIG_UNREADABLE', {
      message: `${file} is not valid JSON: ${describeJsonError(text, error)}`,
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
