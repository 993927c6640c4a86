import { toBase64 } from './base64.ts'
import { isOwnTag, isPlain, isTooLarge, maxDepth, mayPollute, pollutes, Refusal, tags } from './kinds.ts'
import { locateRefusal } from './refuse.ts'

/**
 * For whom a value is written. `tags`: a reader that knows tags, such as a client of Busbar, which gets back exactly what
 * was given. `json`: any other program; a field that is `undefined` is left out for it, and -0 is 0.
 */
export type Reader = 'tags' | 'json'

/** `undefined` for undefined: a call without input, or without a result. Throws {@link Uncarriable}. */
export function encodeJson(value: unknown, reader: Reader = 'tags'): string | undefined {
  return value === undefined
    ? undefined
    : JSON.stringify(write(value, { isExact: reader === 'tags', beside: undefined }))
}

/**
 * The value with everything in tags that JSON has no words for. What has nothing of the kind is returned as it is, without
 * a copy.
 *
 * `beside`: for those who can carry bytes as they are: copies of them are put there, and the tags say where.
 */
export function toTagged(value: unknown, beside?: Uint8Array[]): unknown {
  return write(value, beside === undefined ? exactly : { isExact: true, beside })
}

/** {@link toTagged} for a reader of a kind that is only known when it asks. */
export function toTaggedFor(reader: Reader, value: unknown): unknown {
  return write(value, reader === 'tags' ? exactly : asJson)
}

interface Writing {
  readonly isExact: boolean
  readonly beside: Uint8Array[] | undefined
}

const exactly: Writing = { isExact: true, beside: undefined }
const asJson: Writing = { isExact: false, beside: undefined }

function write(value: unknown, writing: Writing): unknown {
  try {
    return isJson(value, 0) ? value : lower(value, 0, writing)
  } catch {
    throw locateRefusal(value)
  }
}

/** Whether nothing in it needs a tag, for any reader. Most values are so, and this takes half of the time of {@link lower}. */
function isJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return value === 0 ? !Object.is(value, -0) : Number.isFinite(value)
  if (typeof value !== 'object' || depth >= maxDepth || hasToJson(value)) return false
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (!isJson(value[at], depth + 1)) return false
    return true
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  // Names that need a closer look, whether they are the only ones or not.
  for (const key in value)
    if (key.charCodeAt(0) === 0x24 || mayPollute(key) || !isJson((value as Fields)[key], depth + 1)) return false
  return true
}

function lower(value: unknown, depth: number, writing: Writing): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return lowerNumber(value, writing)
    case 'undefined':
      return { [tags.undefined]: true }
    case 'bigint':
      if (isTooLarge(value)) throw new Refusal()
      return { [tags.bigint]: String(value) }
    case 'object':
      return value === null ? null : lowerObject(value, depth, writing)
    case 'function':
    case 'symbol':
      throw new Refusal()
  }
}

function lowerNumber(value: number, { isExact }: Writing): unknown {
  if (value === 0) return isExact && Object.is(value, -0) ? { [tags.number]: '-0' } : value
  return Number.isFinite(value) ? value : { [tags.number]: String(value) }
}

function lowerObject(value: object, depth: number, writing: Writing): unknown {
  if (depth >= maxDepth) throw new Refusal()
  // Nearly all are one of these two: the rest is asked only of others.
  if (Object.getPrototypeOf(value) === Object.prototype) return lowerFields(value as Fields, depth, writing)
  if (Array.isArray(value)) return lowerList(value, depth, writing)
  if (value instanceof Date) return { [tags.date]: Number.isNaN(value.getTime()) ? null : value.toISOString() }
  if (value instanceof Uint8Array) return lowerBytes(value, writing)
  if (value instanceof Map) {
    const pairs = Array.from(value, (pair) => pair.map((part) => lower(part, depth + 1, writing)))
    return { [tags.map]: pairs }
  }
  if (value instanceof Set) return { [tags.set]: Array.from(value, (part) => lower(part, depth + 1, writing)) }
  if (!isPlain(value)) throw new Refusal()
  return lowerFields(value, depth, writing)
}

type Fields = Record<string, unknown>

function lowerBytes(bytes: Uint8Array, { beside }: Writing): unknown {
  return { [tags.bytes]: beside === undefined ? toBase64(bytes) : beside.push(new Uint8Array(bytes)) - 1 }
}

function lowerList(list: readonly unknown[], depth: number, writing: Writing): unknown {
  let copy = hasToJson(list) ? [...list] : undefined
  for (let at = 0; at < list.length; at++) {
    const part = lower(list[at], depth + 1, writing)
    if (part !== list[at]) (copy ??= [...list])[at] = part
  }
  return copy ?? list
}

function lowerFields(value: Fields, depth: number, writing: Writing): unknown {
  let copy = hasToJson(value) ? { ...value } : undefined
  let only: string | undefined
  let count = 0
  for (const key of Object.keys(value)) {
    const part = value[key]
    // `JSON.stringify` leaves it out.
    if (part === undefined && !writing.isExact) continue
    if (pollutes(key, part)) throw new Refusal()
    only = key
    count++
    const lowered = lower(part, depth + 1, writing)
    if (lowered !== part) (copy ??= { ...value })[key] = lowered
  }
  const lowered = copy ?? value
  return count === 1 && looksLikeTag(only!, writing) ? { [tags.plain]: lowered } : lowered
}

/** `JSON.stringify` would ask it what to write. A plain object has one only where it is not enumerable. */
function hasToJson(value: object): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function'
}

/** A reader of tags may know more of them than this version does. */
function looksLikeTag(key: string, { isExact }: Writing): boolean {
  return key.charCodeAt(0) === 0x24 && (isExact || isOwnTag(key))
}
