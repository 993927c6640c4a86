import * as z from 'zod'

/**
 * The types of config values. The input type of each is what a `busbar.config.ts` may contain, its
 * JSON Schema what editors accept, its output what Busbar reads: integers, milliseconds, bytes. A
 * placeholder such as `${NAME}` is allowed in place of a number, and is filled in before parsing.
 */
const placeholder = z.templateLiteral([z.string(), '${', z.string(), '}', z.string()])
const numeral = z.templateLiteral([z.number()])

const timeUnits = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const
const sizeUnits = {
  b: 1,
  kb: 1024,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
  B: 1,
  KB: 1024,
  MB: 1024 ** 2,
  GB: 1024 ** 3,
} as const

/** Milliseconds. Timers count in 32 bits, and a longer one fires at once. */
const maxTimer = 2 ** 31 - 1

/** Instances of a service, and shared workers. */
export const mostInstances = 1024

/** Titles that several keys share. */
export const text = 'text'
const milliseconds = 'a duration: milliseconds, or text such as "500ms", "10s", "2m"'
export const bytes = 'a size: bytes, or text such as "16kb", "10mb", "1gb"'
export const portNumber = 'a port: an integer from 0 to 65535'

export function filled() {
  return z.string().min(1)
}

/** The path of a URL, as it begins a request target. */
export function path() {
  return z.string().regex(/^(?:\/[\w.~-]+)+$/)
}

/** What is requested: a path, also the root, with or without a query. */
export function requestTarget() {
  return z.string().regex(/^\/(?!\/)[!-"$-~]*$/)
}

export function port() {
  return integer(0, 65_535)
}

export function integer(min: number, max: number) {
  return z
    .union([z.int().min(min).max(max), numeral, placeholder])
    .transform(Number)
    .pipe(z.int().min(min).max(max))
}

/** Milliseconds. A plain number is in milliseconds. */
function duration(min: number) {
  return z
    .union([
      z.int().min(min).max(maxTimer),
      z.templateLiteral([z.number(), z.enum(['ms', 's', 'm', 'h'])]),
      numeral,
      placeholder,
    ])
    .transform((value) => scale(value, timeUnits))
    .pipe(z.int().min(min).max(maxTimer))
}

/** A duration that has a default. */
export function durationWithDefault(usual: `${number}s`, min: number, description: string) {
  return duration(min).prefault(usual).meta({ title: milliseconds, description })
}

/** A duration that may be absent. */
export function optionalDuration(min: number, description: string) {
  return duration(min).optional().meta({ title: milliseconds, description })
}

/** Bytes. A plain number is in bytes; units are powers of 1024. */
export function size(max: number = Number.MAX_SAFE_INTEGER) {
  return z
    .union([
      z.int().min(1).max(max),
      z.templateLiteral([z.number(), z.enum(['b', 'kb', 'mb', 'gb', 'B', 'KB', 'MB', 'GB'])]),
      numeral,
      placeholder,
    ])
    .transform((value) => scale(value, sizeUnits))
    .pipe(z.int().min(1).max(max))
}

function scale(value: string | number, units: Readonly<Record<string, number>>): number {
  if (typeof value === 'number') return value
  const [, amount, unit = ''] = /^(-?[\d.]+)([a-zA-Z]*)$/.exec(value) ?? []
  return Math.round(Number(amount) * (unit === '' ? 1 : (units[unit] ?? Number.NaN)))
}

/** A number that follows the load. */
export const range = z.strictObject({
  min: integer(1, 1_024).prefault(1).meta({
    title: 'an integer from 1 to 1024',
    description: 'The least; also how many there are at the start.',
  }),
  max: z.union([integer(1, 1_024), z.enum(['auto', 'cpus-1'])]).meta({
    title: 'an integer from 1 to 1024, "auto" or "cpus-1"',
    description: 'The most; `auto`: one per usable processor.',
  }),
})
