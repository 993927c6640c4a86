import type { Check } from '../schema.ts'
import { decodeJson } from '../value/decode.ts'
import { toTagged } from '../value/encode.ts'

/**
 * Fields of an input that stand in a path or a query are text, and only the schema knows what they are: what it refuses as
 * text is read as JSON, and then as a list of one. So `?id=7` is the text "7" for a schema of text, the number for one of
 * numbers, and `[7]` for a list of these, whatever library the schema is of. What is returned is still to be checked: of
 * all readings that are refused, it is the one with the fewest faults.
 */
export async function readText(
  check: Check,
  fields: Record<string, unknown>,
  textual: ReadonlySet<string>,
): Promise<Record<string, unknown>> {
  let read = fields
  let refused = await refusedBy(check, read, textual)
  for (const reading of readings) {
    if (refused.size === 0) return read
    const next = { ...read, ...Object.fromEntries([...refused].map((key) => [key, reading(fields[key])])) }
    const left = await refusedBy(check, next, textual)
    if (left.size < refused.size) [read, refused] = [next, left]
  }
  return read
}

const readings: readonly ((text: unknown) => unknown)[] = [readAsJson, (text) => [text], (text) => [readAsJson(text)]]

/** The fields of text that the schema finds fault with. */
async function refusedBy(check: Check, fields: object, textual: ReadonlySet<string>): Promise<Set<string>> {
  const { issues = [] } = await check(fields)
  return new Set(issues.map(({ path }) => String(path[0])).filter((key) => textual.has(key)))
}

function readAsJson(text: unknown): unknown {
  if (Array.isArray(text)) return text.map(readAsJson)
  if (typeof text !== 'string') return text
  try {
    return decodeJson(text)
  } catch {
    return text
  }
}

/** As {@link checkText} reads it: text as it is, everything else as JSON. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(toTagged(value))
}

/** `?a=1&b=x&b=y`: a field that is repeated is a list. */
export function parseQuery(query: string): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [key, value] of new URLSearchParams(query)) {
    if (key === '__proto__') continue
    const known = Object.hasOwn(fields, key) ? fields[key] : undefined
    fields[key] = known === undefined ? value : [...(Array.isArray(known) ? (known as unknown[]) : [known]), value]
  }
  return fields
}
