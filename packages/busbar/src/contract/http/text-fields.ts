import type { Check } from '../schema.ts'
import { decodeJson } from '../value/decode.ts'
import { toTagged } from '../value/encode.ts'

/**
 * Fields of an input that stand in a path or a query are text, and only the schema knows what they are: what it refuses as
 * text is read as JSON, if it then takes it. So `?id=7` is the text "7" for a schema of text, and the number for one of
 * numbers, whatever library the schema is of. What is returned is still to be checked.
 */
export async function readText(
  check: Check,
  fields: Record<string, unknown>,
  textual: ReadonlySet<string>,
): Promise<Record<string, unknown>> {
  const { issues } = await check(fields)
  if (issues === undefined) return fields
  const refused = new Set(issues.map(({ path }) => String(path[0])).filter((key) => textual.has(key)))
  if (refused.size === 0) return fields
  const read = { ...fields, ...Object.fromEntries([...refused].map((key) => [key, readAsJson(fields[key])])) }
  return (await check(read)).issues === undefined ? read : fields
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
