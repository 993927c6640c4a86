import { toBase64 } from './base64.ts'
import {
  isOwnTag,
  isPlainObject,
  isTooLarge,
  maxDepth,
  mayPollute,
  pollutes,
  Unserialisable,
  tags,
} from './serialisable.ts'
import { findUnserialisable } from './find-unserialisable.ts'

/**
 * How values that JSON cannot express are written. `tags`: for a reader that decodes tags, such as
 * a client of Busbar; the value is restored exactly. `json`: for any other program; `undefined`
 * fields are omitted, and -0 is 0.
 */
export type JsonDialect = 'tags' | 'json'

/**
 * Encodes a value as JSON. `undefined` stays undefined: a call without input, or without a result.
 * Throws {@link SerialisationError}.
 */
export function encodeJson(value: unknown, dialect: JsonDialect = 'tags'): string | undefined {
  return value === undefined
    ? undefined
    : JSON.stringify(write(value, { isExact: dialect === 'tags', attachments: undefined }))
}

/**
 * Converts values that JSON cannot express to tags. Returns the same value, without a copy, if
 * there are none.
 *
 * `attachments`: for transports that can carry raw bytes. Copies of byte arrays are appended to it,
 * and their tags hold the index.
 */
export function toTagged(value: unknown, attachments?: Uint8Array[]): unknown {
  return write(value, attachments === undefined ? exactly : { isExact: true, attachments })
}

/** {@link toTagged} for either dialect. */
export function toTaggedFor(dialect: JsonDialect, value: unknown): unknown {
  return write(value, dialect === 'tags' ? exactly : asJson)
}

interface Writing {
  readonly isExact: boolean
  readonly attachments: Uint8Array[] | undefined
}

const exactly: Writing = { isExact: true, attachments: undefined }
const asJson: Writing = { isExact: false, attachments: undefined }

function write(value: unknown, writing: Writing): unknown {
  try {
    return isJson(value, 0) ? value : encode(value, 0, writing)
  } catch {
    throw findUnserialisable(value)
  }
}

/**
 * Whether a value needs no tags in either dialect. True for most values, and takes half as long as
 * {@link encode}.
 */
function isJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return value === 0 ? !Object.is(value, -0) : Number.isFinite(value)
  if (typeof value !== 'object' || depth >= maxDepth || hasToJson(value)) return false
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (!isJson(value[at], depth + 1)) return false
    return true
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  // Keys that may need escaping or may be forbidden.
  for (const key in value)
    if (key.charCodeAt(0) === 0x24 || mayPollute(key) || !isJson((value as Fields)[key], depth + 1)) return false
  return true
}

function encode(value: unknown, depth: number, writing: Writing): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return encodeNumber(value, writing)
    case 'undefined':
      return { [tags.undefined]: true }
    case 'bigint':
      if (isTooLarge(value)) throw new Unserialisable()
      return { [tags.bigint]: String(value) }
    case 'object':
      return value === null ? null : encodeObject(value, depth, writing)
    case 'function':
    case 'symbol':
      throw new Unserialisable()
  }
}

function encodeNumber(value: number, { isExact }: Writing): unknown {
  if (value === 0) return isExact && Object.is(value, -0) ? { [tags.number]: '-0' } : value
  return Number.isFinite(value) ? value : { [tags.number]: String(value) }
}

function encodeObject(value: object, depth: number, writing: Writing): unknown {
  if (depth >= maxDepth) throw new Unserialisable()
  // Nearly all objects are one of these two, so they are checked first.
  if (Object.getPrototypeOf(value) === Object.prototype) return encodeFields(value as Fields, depth, writing)
  if (Array.isArray(value)) return encodeList(value, depth, writing)
  if (value instanceof Date) return { [tags.date]: Number.isNaN(value.getTime()) ? null : value.toISOString() }
  if (value instanceof Uint8Array) return encodeBytes(value, writing)
  if (value instanceof Map) {
    const pairs = Array.from(value, (pair) => pair.map((part) => encode(part, depth + 1, writing)))
    return { [tags.map]: pairs }
  }
  if (value instanceof Set) return { [tags.set]: Array.from(value, (part) => encode(part, depth + 1, writing)) }
  if (!isPlainObject(value)) throw new Unserialisable()
  return encodeFields(value, depth, writing)
}

type Fields = Record<string, unknown>

function encodeBytes(bytes: Uint8Array, { attachments }: Writing): unknown {
  return { [tags.bytes]: attachments === undefined ? toBase64(bytes) : attachments.push(new Uint8Array(bytes)) - 1 }
}

function encodeList(list: readonly unknown[], depth: number, writing: Writing): unknown {
  let copy = hasToJson(list) ? [...list] : undefined
  for (let at = 0; at < list.length; at++) {
    const part = encode(list[at], depth + 1, writing)
    if (part !== list[at]) (copy ??= [...list])[at] = part
  }
  return copy ?? list
}

function encodeFields(value: Fields, depth: number, writing: Writing): unknown {
  let copy = hasToJson(value) ? { ...value } : undefined
  let only: string | undefined
  let count = 0
  for (const key of Object.keys(value)) {
    const part = value[key]
    // `JSON.stringify` omits it.
    if (part === undefined && !writing.isExact) continue
    if (pollutes(key, part)) throw new Unserialisable()
    only = key
    count++
    const encoded = encode(part, depth + 1, writing)
    if (encoded !== part) (copy ??= { ...value })[key] = encoded
  }
  const encoded = copy ?? value
  return count === 1 && looksLikeTag(only!, writing) ? { [tags.plain]: encoded } : encoded
}

/** `JSON.stringify` would call it. A plain object can only have it as a non-enumerable property. */
export function hasToJson(value: object): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function'
}

/** A reader of tags may know tags that this version does not. */
function looksLikeTag(key: string, { isExact }: Writing): boolean {
  return key.charCodeAt(0) === 0x24 && (isExact || isOwnTag(key))
}
