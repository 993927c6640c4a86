import { nearest } from './nearest.ts'
import type { Problems } from './problems.ts'
import { isPlainObject } from './schema/placeholders.ts'

/** Where a text is short for an object with this one key. */
const shorthands: readonly (readonly [path: RegExp, key: string])[] = [
  [/^services\/[^/]+$/, 'path'],
  [/^services\/[^/]+\/build$/, 'command'],
  [/^services\/[^/]+\/health$/, 'path'],
  [/^services\/[^/]+\/cronRestart$/, 'cron'],
  [/^gateway\/routes\/.+$/, 'service'],
  [/^logs\/files$/, 'folder'],
]

/**
 * The config of one of its `environments`, or without them if `name` is undefined. Objects are
 * merged, everything else is replaced, and null removes a key. Called before placeholders are
 * filled: those of another environment need no values.
 */
export function applyEnvironment(raw: unknown, name: string | undefined, problems: Problems): unknown {
  if (!isPlainObject(raw)) {
    if (name !== undefined) reportUnknown(name, [], problems)
    return raw
  }
  const { environments, ...config } = raw
  // Left for the schema, which says what is allowed.
  if (environments !== undefined && !isPlainObject(environments)) return raw
  if (name === undefined) return config
  const names = Object.keys(environments ?? {})
  if (environments === undefined || !names.includes(name)) {
    reportUnknown(name, names, problems)
    return config
  }
  return merge(config, environments[name], '')
}

function merge(base: unknown, over: unknown, path: string): unknown {
  if (!isPlainObject(over)) return over
  const below = expand(base, path)
  const merged = { ...below }
  for (const [key, value] of Object.entries(over)) {
    if (value === null) delete merged[key]
    else merged[key] = merge(below[key], value, path === '' ? key : `${path}/${key}`)
  }
  return merged
}

function expand(base: unknown, path: string): Record<string, unknown> {
  if (isPlainObject(base)) return base
  const key = shorthands.find(([pattern]) => pattern.test(path))?.[1]
  return typeof base === 'string' && key !== undefined ? { [key]: base } : {}
}

function reportUnknown(name: string, names: readonly string[], problems: Problems): void {
  const near = nearest(name, names)
  problems.add('CONFIG_INVALID', {
    message: `the config has no environment ${JSON.stringify(name)}${near === undefined ? '' : `; the nearest is ${near}`}`,
    hint:
      names.length === 0 ? `Add it: environments: { ${name}: { … } }.` : `The environments are ${names.join(', ')}.`,
  })
}
