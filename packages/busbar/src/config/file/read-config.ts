import { readFile } from 'node:fs/promises'
import { BusbarError } from '../../contract/errors.ts'
import type { ConfigContext } from '../define.ts'
import { formatPath } from '../schema/describe.ts'
import { describeJsonError } from './json-error.ts'
import { readModule } from './module/read-module.ts'

/** Milliseconds: enough for a config that fetches a secret from a slow server. */
const defaultTimeout = 60_000

/** The config before validation: JSON is parsed, a module imported, a function called. */
export async function readConfig(
  file: string,
  context: ConfigContext,
  timeout: number = defaultTimeout,
): Promise<unknown> {
  return file.endsWith('.json') ? readJson(file) : readModule(file, context, timeout)
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => unreadable(file, (error as Error).message, error))
  const content = text.replace(/^\uFEFF/, '')
  const parsed = parseJson(file, content)
  const path = pathOfPrototype(parsed)
  if (path !== undefined) unreadable(file, `${formatPath(path)} is a name that JavaScript keeps for itself`, undefined)
  return parsed
}

function parseJson(file: string, content: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    return unreadable(
      file,
      describeJsonError(content, error),
      error,
      /^\s*\/[/*]/m.test(content) ? commentsHint : undefined,
    )
  }
}

/** Where a key is `__proto__`. Assignments and the schema would drop it without a word. */
function pathOfPrototype(value: unknown, path: readonly (string | number)[] = []): typeof path | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, part] of Object.entries(value)) {
    const below = [...path, Array.isArray(value) ? Number(key) : key]
    const found = key === '__proto__' ? below : pathOfPrototype(part, below)
    if (found !== undefined) return found
  }
  return undefined
}

const commentsHint = 'JSON has no comments. Use a busbar.config.ts to have them.'

function unreadable(file: string, reason: string, cause: unknown, hint?: string): never {
  throw new BusbarError('CONFIG_UNREADABLE', {
    message: `${file} cannot be read: ${reason}`,
    cause,
    ...(hint !== undefined && { hint }),
  })
}
