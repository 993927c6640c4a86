import * as z from 'zod'

/**
 * The kinds of value that a config holds besides plain text. Each is one zod type: its input type is what a
 * `busbar.config.ts` may write, its JSON Schema what an editor allows, its output what the runtime reads (milliseconds,
 * bytes, integers). `${NAME}` is allowed wherever a number is, and has been filled in before anything is parsed.
 */
const placeholder = z.templateLiteral([z.string(), '${', z.string(), '}', z.string()])
const numeral = z.templateLiteral([z.number()])

const milliseconds = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const
const bytes = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3, B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 } as const

/** A longer delay than this fires at once: timers count in 32 bits. */
const longestTimer = 2 ** 31 - 1

export function integer(least: number, most: number) {
  return z
    .union([z.int().min(least).max(most), numeral, placeholder])
    .transform(Number)
    .pipe(z.int().min(least).max(most))
}

/** Gives milliseconds. A bare number is milliseconds already. */
export function duration(least: number) {
  return z
    .union([
      z.int().min(least).max(longestTimer),
      z.templateLiteral([z.number(), z.enum(['ms', 's', 'm', 'h'])]),
      numeral,
      placeholder,
    ])
    .transform((value) => scale(value, milliseconds))
    .pipe(z.int().min(least).max(longestTimer))
}

/** Gives bytes. A bare number is bytes already; units count in 1024s. */
export function size(most: number = Number.MAX_SAFE_INTEGER) {
  return z
    .union([
      z.int().min(1).max(most),
      z.templateLiteral([z.number(), z.enum(['b', 'kb', 'mb', 'gb', 'B', 'KB', 'MB', 'GB'])]),
      numeral,
      placeholder,
    ])
    .transform((value) => scale(value, bytes))
    .pipe(z.int().min(1).max(most))
}

function scale(value: string | number, units: Readonly<Record<string, number>>): number {
  if (typeof value === 'number') return value
  const [, amount, unit = ''] = /^(-?[\d.]+)([a-zA-Z]*)$/.exec(value) ?? []
  return Math.round(Number(amount) * (unit === '' ? 1 : (units[unit] ?? Number.NaN)))
}
