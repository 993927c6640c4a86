import { fromBase64 } from './base64.ts'
import { cloneValue } from './clone.ts'
import { maxDepth, pollutes, tags, Uncarriable } from './kinds.ts'

/** The text is no JSON. */
export class MalformedJson extends Error {}

/**
 * Reads what {@link encodeJson} wrote, and whatever else is JSON. Throws {@link MalformedJson}, or {@link Uncarriable} for
 * what is too deep, has a key that could change prototypes, or a tag without its value. Of equal keys the last one counts,
 * as everywhere in JavaScript (RFC 8259, 4 leaves it open).
 */
export function decodeJson(text: string): unknown {
  const depth = depthOf(text)
  if (depth > maxJsonDepth) throw new Uncarriable([], `nested deeper than ${maxDepth} levels`)
  const parsed = parse(text)
  const value = mayNeedRaising(text) ? raise(parsed, [], undefined) : parsed
  // How deep the value is, without the tags, is known only now.
  return depth > maxDepth ? cloneValue(value) : value
}

/**
 * Of a value that was parsed already. `beside`: the bytes that came with it, where `toTagged` put them there. Throws
 * {@link Uncarriable}.
 */
export function fromTagged(value: unknown, beside?: readonly Uint8Array[]): unknown {
  try {
    return raise(value, [], beside)
  } catch (error) {
    throw error instanceof RangeError ? new Uncarriable([], 'nested too deep') : error
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new MalformedJson((error as Error).message)
  }
}

/** Tags begin with a dollar sign; a key that is refused may also be written with escapes. */
function mayNeedRaising(text: string): boolean {
  return text.includes('"$') || text.includes('\\u') || text.includes('__proto__') || text.includes('"constructor"')
}

/** A tagged map is three levels of JSON, so this is wider than the limit for values; validators recurse on what passes. */
const maxJsonDepth = 3 * maxDepth

/** In levels of JSON, and not further than it matters; 0 of a text that is too short to be too deep. */
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

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
    if (slashes % 2 === 0) return at
  }
  return text.length
}

type Path = readonly (string | number)[]

/** In place: what was just parsed is nobody else's. */
type Beside = readonly Uint8Array[] | undefined

function raise(value: unknown, path: Path, beside: Beside): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = raise(value[at], [...path, at], beside)
    return value
  }
  const fields = value as Record<string, unknown>
  const keys = Object.keys(fields)
  if (keys.length === 1 && keys[0]!.charCodeAt(0) === 0x24) return raiseTag(keys[0]!, fields, path, beside)
  return raiseFields(fields, keys, path, beside)
}

function raiseFields(fields: Record<string, unknown>, keys: readonly string[], path: Path, beside: Beside): unknown {
  for (const key of keys) {
    if (pollutes(key, fields[key])) throw new Uncarriable([...path, key], 'a key that is refused')
    fields[key] = raise(fields[key], [...path, key], beside)
  }
  return fields
}

function raiseTag(tag: string, fields: Record<string, unknown>, path: Path, beside: Beside): unknown {
  const content = fields[tag]
  const raised = readers[tag]?.(content, path, beside)
  if (raised !== undefined) return raised.value
  if (tag in readers) throw new Uncarriable(path, `${tag} without the value that belongs to it`)
  // Not one of ours: an object that happens to have such a key, from somebody who does not know of tags.
  return raiseFields(fields, [tag], path, beside)
}

type Reader = (content: unknown, path: Path, beside: Beside) => { value: unknown } | undefined

const readers: Readonly<Record<string, Reader>> = {
  [tags.undefined]: () => ({ value: undefined }),
  [tags.number]: (content) => numbers.get(content as string),
  [tags.bigint]: (content) =>
    typeof content === 'string' && /^-?\d{1,10000}$/.test(content) ? { value: BigInt(content) } : undefined,
  [tags.date]: readDate,
  [tags.bytes]: (content, _path, beside) => {
    const bytes = typeof content === 'string' ? fromBase64(content) : beside?.[content as number]
    return bytes && { value: bytes }
  },
  [tags.map]: (content, path, beside) =>
    isPairs(content) ? { value: new Map(raise(content, path, beside) as [unknown, unknown][]) } : undefined,
  [tags.set]: (content, path, beside) =>
    Array.isArray(content) ? { value: new Set(raise(content, path, beside) as unknown[]) } : undefined,
  [tags.plain]: (content, path, beside) => {
    if (typeof content !== 'object' || content === null || Array.isArray(content)) return undefined
    return { value: raiseFields(content as Record<string, unknown>, Object.keys(content), path, beside) }
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
