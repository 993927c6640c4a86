import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import * as z from 'zod'
import { nearest } from '../config/nearest.ts'
import { Problems } from '../config/problems.ts'
import { BusbarError } from '../contract/errors.ts'
import { isImplementation } from '../contract/implementation.ts'
import type { Replacement, StartAppOptions } from './embedded-app.ts'

const isReplacement = (value: unknown): value is Replacement =>
  typeof value === 'function' ||
  isImplementation(value) ||
  typeof (value as { fetch?: unknown } | null)?.fetch === 'function'

/** By its shape: test environments have an `AbortSignal` of their own. */
const isSignal = (value: unknown): boolean =>
  value instanceof AbortSignal ||
  (typeof (value as AbortSignal | null)?.aborted === 'boolean' &&
    typeof (value as AbortSignal).addEventListener === 'function')

const replacements =
  "a request handler (req, res), an object with a fetch method, or an implementation of the service's contract"

/** The titles describe allowed values in error messages. */
const schema = z.strictObject({
  port: z.int().min(0).max(65_535).optional().meta({ title: 'a port: an integer from 0 to 65535' }),
  host: z.string().min(1).optional().meta({ title: 'a host' }),
  workers: z
    .union([z.int().min(1).max(1024), z.literal('auto')])
    .optional()
    .meta({ title: 'an integer from 1 to 1024, or "auto"' }),
  run: z.enum(['shared', 'thread', 'process']).optional().meta({ title: '"shared", "thread" or "process"' }),
  env: z.record(z.string(), z.string().optional()).optional().meta({ title: 'an object of variables' }),
  environment: z.string().min(1).optional().meta({ title: "the name of one of the config's environments" }),
  log: z
    .union([z.enum(['pretty', 'json']), z.custom((value) => typeof value === 'function')])
    .optional()
    .meta({ title: '"pretty", "json" or a function' }),
  signal: z.custom(isSignal).optional().meta({ title: 'an AbortSignal' }),
  replace: z.record(z.string(), z.custom(isReplacement)).optional().meta({
    title: 'an object with a double for each service that it replaces',
  }),
})

/** Throws a BusbarError that lists every problem. */
export function checkOptions(options: unknown): StartAppOptions {
  const problems = new Problems('options of startApp')
  const { error } = schema.safeParse(options)
  for (const issue of error?.issues ?? []) {
    if (issue.code === 'unrecognized_keys') for (const key of issue.keys) addUnknownKey(key, problems)
    else addWrongValue(issue.path, options, problems)
  }
  problems.throwIfAny()
  return options as StartAppOptions
}

/**
 * Returns the path of the app. A `file:` URL may be a string too: `import.meta.resolve` returns
 * one.
 */
export function checkLocation(location: unknown): string {
  const isPath = typeof location === 'string' && location !== '' && !location.startsWith('file:')
  return isPath ? location : (pathOf(location) ?? refuseLocation(location))
}

/** Undefined for a value that is not a `file:` URL, or whose URL has no path on this machine. */
function pathOf(location: unknown): string | undefined {
  if (!(location instanceof URL) && typeof location !== 'string') return undefined
  try {
    return fileURLToPath(location)
  } catch {
    return undefined
  }
}

function refuseLocation(location: unknown): never {
  const shown = location instanceof URL ? location.href : show(location)
  const message = `the first argument of startApp is ${shown}; allowed is the path or the file: URL of an app`
  throw new BusbarError('CONFIG_INVALID', {
    message,
    hint: "Give the folder of an app: startApp('./shop'), or startApp(new URL('./shop', import.meta.url)).",
  })
}

function addUnknownKey(key: string, problems: Problems): void {
  const keys = Object.keys(schema.shape)
  const near = nearest(key, keys)
  problems.add('CONFIG_KEY_UNKNOWN', {
    message: `${key} is not an option${near === undefined ? '' : `; the nearest is ${near}`}`,
    hint: near === undefined ? `Options are ${keys.join(', ')}.` : `Write ${near}.`,
  })
}

function addWrongValue([key, ...path]: readonly PropertyKey[], options: unknown, problems: Problems): void {
  if (key === undefined)
    return problems.add('CONFIG_INVALID', { message: `the second argument is ${show(options)}; allowed is an object` })
  const option = Reflect.get(options as object, key) as unknown
  const value = path.length === 0 ? option : (Reflect.get(option as object, path[0]!) as unknown)
  const { title } = schema.shape[key as keyof typeof schema.shape].meta() ?? {}
  const allowed = path.length === 0 ? title : key === 'replace' ? replacements : 'a text, or undefined'
  const name = [key, ...path].map(String).join('.')
  problems.add('CONFIG_INVALID', { message: `${name} is ${show(value)}; allowed is ${allowed}` })
}

function show(value: unknown): string {
  return inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 100 })
}
