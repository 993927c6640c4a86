import { toBase64 } from './base64.ts'
import { isPlain, maxDepth, pollutes, Refusal, tags } from './kinds.ts'
import { locateRefusal } from './refuse.ts'

/** `undefined` for undefined: a call without input, or without a result. Throws {@link Uncarriable}. */
export function encodeJson(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(toTagged(value))
}

/**
 * The value with everything in tags that JSON does not know. What has nothing of the kind is returned as it is, without
 * a copy; `JSON.stringify` then leaves out fields that are undefined, as every transport does.
 *
 * `beside`: for those who can carry bytes as they are: copies of them are put there, and the tags say where.
 */
export function toTagged(value: unknown, beside?: Uint8Array[]): unknown {
  try {
    return lower(value, 0, beside)
  } catch (error) {
    throw error instanceof Refusal || error instanceof RangeError ? locateRefusal(value) : error
  }
}

type Beside = Uint8Array[] | undefined

function lower(value: unknown, depth: number, beside: Beside): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return isOrdinary(value) ? value : { [tags.number]: Object.is(value, -0) ? '-0' : String(value) }
    case 'undefined':
      return { [tags.undefined]: true }
    case 'bigint':
      return { [tags.bigint]: String(value) }
    case 'object':
      return value === null ? null : lowerObject(value, depth, beside)
    case 'function':
    case 'symbol':
      throw new Refusal()
  }
}

function isOrdinary(value: number): boolean {
  return value === 0 ? !Object.is(value, -0) : Number.isFinite(value)
}

function lowerObject(value: object, depth: number, beside: Beside): unknown {
  if (depth >= maxDepth) throw new Refusal()
  // Nearly all are one of these two: the rest is asked only of others.
  if (Object.getPrototypeOf(value) === Object.prototype) return lowerFields(value as Fields, depth, beside)
  if (Array.isArray(value)) return lowerList(value, depth, beside)
  if (value instanceof Date) return { [tags.date]: Number.isNaN(value.getTime()) ? null : value.toISOString() }
  if (value instanceof Uint8Array) return lowerBytes(value, beside)
  if (value instanceof Map) {
    const pairs = Array.from(value, ([key, part]) => [lower(key, depth + 1, beside), lower(part, depth + 1, beside)])
    return { [tags.map]: pairs }
  }
  if (value instanceof Set) return { [tags.set]: Array.from(value, (part) => lower(part, depth + 1, beside)) }
  if (!isPlain(value)) throw new Refusal()
  return lowerFields(value, depth, beside)
}

type Fields = Record<string, unknown>

function lowerBytes(bytes: Uint8Array, beside: Beside): unknown {
  return { [tags.bytes]: beside === undefined ? toBase64(bytes) : beside.push(new Uint8Array(bytes)) - 1 }
}

function lowerList(list: readonly unknown[], depth: number, beside: Beside): unknown {
  let copy: unknown[] | undefined
  for (let at = 0; at < list.length; at++) {
    const part = lower(list[at], depth + 1, beside)
    if (part !== list[at]) (copy ??= [...list])[at] = part
  }
  return copy ?? list
}

function lowerFields(value: Fields, depth: number, beside: Beside): unknown {
  let copy: Fields | undefined
  let only: string | undefined
  let count = 0
  for (const key of Object.keys(value)) {
    const part = value[key]
    if (part === undefined) continue
    if (pollutes(key, part)) throw new Refusal()
    only = key
    count++
    const lowered = lower(part, depth + 1, beside)
    if (lowered !== part) (copy ??= { ...value })[key] = lowered
  }
  const lowered = copy ?? value
  // It would be taken for a tag.
  return count === 1 && only!.charCodeAt(0) === 0x24 ? { [tags.plain]: lowered } : lowered
}
