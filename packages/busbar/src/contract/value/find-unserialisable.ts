import { isPlainObject, isTooLarge, maxDepth, describeValue, pollutes, SerialisationError } from './serialisable.ts'

type Path = (string | number)[]

/**
 * Finds the first part of `value` that cannot be serialised. Only called after a failure: the
 * encoders keep no path.
 */
export function findUnserialisable(value: unknown): SerialisationError {
  try {
    return find(value, []) ?? new SerialisationError([], 'a value that changed during serialisation')
  } catch (error) {
    return new SerialisationError([], `a value that throws when it is read: ${String(error)}`)
  }
}

function find(value: unknown, path: Path): SerialisationError | undefined {
  if (typeof value === 'function' || typeof value === 'symbol') return refuse(path, value)
  if (typeof value === 'bigint' && isTooLarge(value))
    return new SerialisationError(path, 'an integer of more than 10,000 digits, which cannot be serialised')
  if (typeof value !== 'object' || value === null) return
  if (path.length >= maxDepth)
    return new SerialisationError(path.slice(0, 8), `nested deeper than ${maxDepth} levels, or in itself`)
  if (value instanceof Date || value instanceof Uint8Array) return
  if (Array.isArray(value)) return findIn(value.entries(), path)
  if (value instanceof Map) return findIn([...value].flat().entries(), path)
  if (value instanceof Set) return findIn([...value].entries(), path)
  if (!isPlainObject(value)) return refuse(path, value)
  return findIn(Object.entries(value), path)
}

function findIn(entries: Iterable<[string | number, unknown]>, path: Path): SerialisationError | undefined {
  for (const [key, part] of entries) {
    if (typeof key === 'string' && pollutes(key, part)) return new SerialisationError([...path, key], 'a forbidden key')
    const found = find(part, [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}

function refuse(path: Path, value: unknown): SerialisationError {
  return new SerialisationError(path, `${describeValue(value)}, which cannot be serialised`)
}
