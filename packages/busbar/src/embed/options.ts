import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import * as z from 'zod'
import { nearest } from '../config/nearest.ts'
import { Problems } from '../config/problems.ts'
import { isImplementation } from '../contract/implementation.ts'
import type { Replacement, StartAppOptions } from './start-app.ts'

const isReplacement = (value: unknown): value is Replacement =>
  typeof value === 'function' ||
  isImplementation(value) ||
  typeof (value as { fetch?: unknown } | null)?.fetch === 'function'

const replacements =
  "a request handler (req, res), an object with a fetch method, or an implementation of the service's contract"

/** A title says what a value may be; errors print it. */
const schema = z.strictObject({
  port: z.int().min(0).max(65_535).optional().meta({ title: 'a port: an integer from 0 to 65535' }),
  host: z.string().min(1).optional().meta({ title: 'a host' }),
  workers: z
    .union([z.int().min(1).max(1024), z.literal('auto')])
    .optional()
    .meta({ title: 'an integer from 1 to 1024, or "auto"' }),
  run: z.enum(['shared', 'thread', 'process']).optional().meta({ title: '"shared", "thread" or "process"' }),
  env: z.record(z.string(), z.string().optional()).optional().meta({ title: 'an object of variables' }),
  log: z
    .union([z.enum(['pretty', 'json']), z.custom((value) => typeof value === 'function')])
    .optional()
    .meta({ title: '"pretty", "json" or a function' }),
  replace: z.record(z.string(), z.custom(isReplacement)).optional().meta({
    title: 'an object with a double for each service that it replaces',
  }),
})

/** Throws a BusbarError that lists all that is wrong. */
export function checkOptions(options: unknown): StartAppOptions {
  const problems = new Problems('options of startApp')
  const { error } = schema.safeParse(options)
  for (const issue of error?.issues ?? []) {
    if (issue.code === 'unrecognized_keys') for (const key of issue.keys) unknownKey(key, problems)
    else wrongValue(issue.path, options, problems)
  }
  problems.throwIfAny()
  return options as StartAppOptions
}

/** The path of the app. */
export function checkPlace(place: unknown): string {
  if (typeof place === 'string' && place !== '') return place
  const problems = new Problems('startApp')
  if (!(place instanceof URL)) {
    const message = `the first argument is ${shown(place)}; allowed is the path or the file: URL of an app`
    problems.add('CONFIG_INVALID', { message })
    problems.throwIfAny()
  }
  return fileURLToPath(place as URL)
}

function unknownKey(key: string, problems: Problems): void {
  const keys = Object.keys(schema.shape)
  const near = nearest(key, keys)
  problems.add('CONFIG_KEY_UNKNOWN', {
    message: `${key} is no option${near === undefined ? '' : `; the nearest is ${near}`}`,
    hint: near === undefined ? `Options are ${keys.join(', ')}.` : `Write ${near}.`,
  })
}

function wrongValue([key, ...path]: readonly PropertyKey[], options: unknown, problems: Problems): void {
  if (key === undefined)
    return problems.add('CONFIG_INVALID', { message: `the second argument is ${shown(options)}; allowed is an object` })
  const above = Reflect.get(options as object, key) as unknown
  const value = path.length === 0 ? above : (Reflect.get(above as object, path[0]!) as unknown)
  const { title } = schema.shape[key as keyof typeof schema.shape].meta() ?? {}
  const allowed = key === 'replace' && path.length > 0 ? replacements : title
  const name = [key, ...path].map(String).join('.')
  problems.add('CONFIG_INVALID', { message: `${name} is ${shown(value)}; allowed is ${allowed}` })
}

function shown(value: unknown): string {
  return inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 100 })
}
