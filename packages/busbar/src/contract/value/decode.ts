import { fromBase64 } from './base64.ts'
import { cloneValue } from './clone.ts'
import { maxDepth, pollutes, tags, SerialisationError } from './serialisable.ts'

/** The text is not JSON. */
export class MalformedJson extends Error {}

/**
 * Parses what {@link encodeJson} wrote, and any other JSON. Throws {@link MalformedJson}, or
 * {@link SerialisationError} for a value that is nested too deeply, has a key that could change a
 * prototype, or has a malformed tag. Of duplicate keys the last one wins, as in JavaScript (RFC
 * 8259, 4 leaves it open).
 */
export function decodeJson(text: string): unknown {
  const depth = depthOf(text)
  if (depth > maxJsonDepth) throw new SerialisationError([], `nested deeper than ${maxDepth} levels`)
  const parsed = parse(text)
  const value = mayHaveTags(text) ? decodeTags(parsed, [], undefined) : parsed
  // The depth without tags is only known after decoding.
  return depth > maxDepth ? cloneValue(value) : value
}

/**
 * Decodes the tags of a value that is already parsed. `attachments`: returns the bytes that
 * `toTagged` placed beside it. Throws {@link SerialisationError}.
 */
export function fromTagged(value: unknown, attachments?: Attachments): unknown {
  try {
    return decodeTags(value, [], attachments)
  } catch (error) {
    throw error instanceof RangeError ? new SerialisationError([], 'nested too deeply') : error
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new MalformedJson((error as Error).message)
  }
}

/** Tags begin with a dollar sign. */
function mayHaveTags(text: string): boolean {
  return text.includes('"$') || mayHaveForbiddenKeys(text)
}

/** They may also be written with escapes. {@link fromTagged} finds them. */
export function mayHaveForbiddenKeys(text: string): boolean {
  return text.includes('\\u') || text.includes('__proto__') || text.includes('"constructor"')
}

/**
 * A tagged map takes three levels of JSON, so this exceeds the limit for values. Validators recurse
 * on what passes.
 */
export const maxJsonDepth = 3 * maxDepth

/**
 * The depth in levels of JSON, counted only up to the limit; 0 for a text too short to exceed it.
 */
function depthOf(text: string): number {
  if (text.length <= 2 * maxDepth) return 0
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length && deepest <= maxJsonDepth; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) at = endOfString(text, at)
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x5d || code === 0x7d) depth--
  }
  return deepest
}

/** Of the JSON string that begins at `start`. */
export function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
    if (slashes % 2 === 0) return at
  }
  return text.length
}

type Path = readonly (string | number)[]

/** The value was just parsed and is not shared, so it is changed in place. */
type Attachments = { get(at: number): Uint8Array | undefined } | undefined

function decodeTags(value: unknown, path: Path, attachments: Attachments): unknown {
  if (typeof value !== 'object' || value === null) return value
  // Each level copies the path.
  if (path.length > maxJsonDepth) throw new RangeError()
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = decodeTags(value[at], [...path, at], attachments)
    return value
  }
  const fields = value as Record<string, unknown>
  const keys = Object.keys(fields)
  if (keys.length === 1 && keys[0]!.charCodeAt(0) === 0x24) return decodeTag(keys[0]!, fields, path, attachments)
  return decodeFields(fields, keys, path, attachments)
}

function decodeFields(
  fields: Record<string, unknown>,
  keys: readonly string[],
  path: Path,
  attachments: Attachments,
): unknown {
  for (const key of keys) {
    if (pollutes(key, fields[key])) throw new SerialisationError([...path, key], 'a forbidden key')
    fields[key] = decodeTags(fields[key], [...path, key], attachments)
  }
  return fields
}

function decodeTag(tag: string, fields: Record<string, unknown>, path: Path, attachments: Attachments): unknown {
  const content = fields[tag]
  const decoded = readers[tag]?.(content, path, attachments)
  if (decoded !== undefined) return decoded.value
  if (tag in readers) throw new SerialisationError(path, `${tag} without a matching value`)
  // An unknown tag: an object with such a key from a program that does not know tags.
  return decodeFields(fields, [tag], path, attachments)
}

type JsonDialect = (content: unknown, path: Path, attachments: Attachments) => { value: unknown } | undefined

const readers: Readonly<Record<string, JsonDialect>> = {
  [tags.undefined]: () => ({ value: undefined }),
  [tags.number]: (content) => numbers.get(content as string),
  [tags.bigint]: (content) =>
    typeof content === 'string' && /^-?\d{1,10000}$/.test(content) ? { value: BigInt(content) } : undefined,
  [tags.date]: readDate,
  [tags.bytes]: (content, _path, attachments) => {
    const bytes = typeof content === 'string' ? fromBase64(content) : attachments?.get(content as number)
    return bytes && { value: bytes }
  },
  [tags.map]: (content, path, attachments) =>
    isPairs(content) ? { value: new Map(decodeTags(content, path, attachments) as [unknown, unknown][]) } : undefined,
  [tags.set]: (content, path, attachments) =>
    Array.isArray(content) ? { value: new Set(decodeTags(content, path, attachments) as unknown[]) } : undefined,
  [tags.plain]: (content, path, attachments) => {
    if (typeof content !== 'object' || content === null || Array.isArray(content)) return undefined
    return { value: decodeFields(content as Record<string, unknown>, Object.keys(content), path, attachments) }
  },
}

const numbers = new Map(
  [NaN, Infinity, -Infinity, -0].map((value) => [Object.is(value, -0) ? '-0' : `${value}`, { value }]),
)

function readDate(content: unknown): { value: Date } | undefined {
  if (content === null) return { value: new Date(NaN) }
  if (typeof content !== 'string' || !/^([+-]\d{6}|\d{4})-\d\d-\d\dT/.test(content)) return undefined
  const value = new Date(content)
  return Number.isNaN(value.getTime()) ? undefined : { value }
}

function isPairs(content: unknown): content is [unknown, unknown][] {
  return Array.isArray(content) && content.every((pair) => Array.isArray(pair) && pair.length === 2)
}
