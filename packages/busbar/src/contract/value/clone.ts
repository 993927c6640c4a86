import { isPlainObject, isTooLarge, maxDepth, pollutes, Unserialisable } from './serialisable.ts'
import { findUnserialisable } from './find-unserialisable.ts'

/**
 * Copies a value as sending it over a network would: the copy shares nothing with it. Throws
 * {@link SerialisationError}. `structuredClone` is no substitute: it drops classes silently and
 * copies types that JSON does not have.
 */
export function cloneValue(value: unknown): unknown {
  try {
    return clone(value, 0)
  } catch {
    throw findUnserialisable(value)
  }
}

function clone(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return cloneScalar(value)
  if (depth >= maxDepth) throw new Unserialisable()
  if (Array.isArray(value)) return Array.from(value as unknown[], (part) => clone(part, depth + 1))
  if (value instanceof Date) return new Date(value.getTime())
  if (value instanceof Uint8Array) return new Uint8Array(value)
  if (value instanceof Map) return cloneMap(value, depth)
  if (value instanceof Set) return new Set(Array.from(value, (part) => clone(part, depth + 1)))
  if (!isPlainObject(value)) throw new Unserialisable()
  return cloneObject(value, depth)
}

function cloneScalar(value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw new Unserialisable()
  if (typeof value === 'bigint' && isTooLarge(value)) throw new Unserialisable()
  return value
}

function cloneObject(value: Record<string, unknown>, depth: number): unknown {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const part = value[key]
    if (pollutes(key, part)) throw new Unserialisable()
    copy[key] = clone(part, depth + 1)
  }
  return copy
}

function cloneMap(value: Map<unknown, unknown>, depth: number): unknown {
  return new Map(Array.from(value, ([key, part]) => [clone(key, depth + 1), clone(part, depth + 1)]))
}
