import type { Check, Checked } from '../../schema.ts'
import { decodeJson } from '../../value/decode.ts'
import { toTagged } from '../../value/encode.ts'
import type { FieldKind } from './field-kinds.ts'

/**
 * Reads fields that arrive as text, in a path or a query. Only the schema knows their types: a
 * field that it refuses as text is read as JSON, and then as a list of one. So `?id=7` is the text
 * "7" for a string schema, a number for a number schema, and `[7]` for a list of numbers, with any
 * schema library. The result is still to be validated. If all readings are refused, the one with
 * the fewest issues wins, and among equals the one of the field's kind, so that the error describes
 * what the sender did wrong.
 */
export function readText(
  check: Check,
  fields: Fields,
  textual: ReadonlySet<string>,
  kindOf: KindOf | undefined,
): Fields | Promise<Fields> {
  const asKind = (key: string, value: unknown): unknown => {
    const kind = kindOf?.(key)
    if (kind === 'list') return Array.isArray(value) ? value : [value]
    return kind === 'json' ? readAsJson(value) : value
  }
  const improve = (best: Fields, refused: ReadonlySet<string>, at: number): Fields | Promise<Fields> => {
    const reading = readings[at]
    if (refused.size === 0) return best
    if (reading === undefined)
      return { ...best, ...Object.fromEntries([...refused].map((key) => [key, asKind(key, best[key])])) }
    const next = { ...best, ...Object.fromEntries([...refused].map((key) => [key, reading(fields[key])])) }
    return whenRefused(check, next, textual, (left) =>
      left.size < refused.size ? improve(next, left, at + 1) : improve(best, refused, at + 1),
    )
  }
  return whenRefused(check, fields, textual, (refused) => improve(fields, refused, 0))
}

/** Undefined for fields that may be text, and if nothing is known. */
export type KindOf = (field: string) => FieldKind | undefined

type Fields = Record<string, unknown>

const readings: readonly ((text: unknown) => unknown)[] = [readAsJson, (text) => [text], (text) => [readAsJson(text)]]

/**
 * Continues with the text fields that the schema refuses; synchronously if the schema is
 * synchronous.
 */
function whenRefused(
  check: Check,
  fields: Fields,
  textual: ReadonlySet<string>,
  onRefused: (refused: ReadonlySet<string>) => Fields | Promise<Fields>,
): Fields | Promise<Fields> {
  const result = check(fields)
  return result instanceof Promise ? result.then((later) => onRefused(refusedIn(later))) : onRefused(refusedIn(result))

  function refusedIn({ issues }: Checked): ReadonlySet<string> {
    if (issues === undefined) return none
    return new Set(issues.map(({ path }) => String(path[0])).filter((key) => textual.has(key)))
  }
}

const none: ReadonlySet<string> = new Set()

function readAsJson(text: unknown): unknown {
  if (Array.isArray(text)) return text.map(readAsJson)
  if (typeof text !== 'string') return text
  try {
    return decodeJson(text)
  } catch {
    return text
  }
}

/** The inverse of {@link readText}: text as it is, everything else as JSON. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(toTagged(value))
}

/** `?a=1&b=x&b=y`: a repeated field is a list. */
export function parseQuery(query: string): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [key, value] of new URLSearchParams(query)) {
    if (key === '__proto__') continue
    const known = Object.hasOwn(fields, key) ? fields[key] : undefined
    fields[key] = known === undefined ? value : [...(Array.isArray(known) ? (known as unknown[]) : [known]), value]
  }
  return fields
}
