import { isPlain, isTooLarge, maxDepth, nameOf, pollutes, Uncarriable } from './kinds.ts'

type Path = (string | number)[]

/**
 * Says where in `value` the first thing is that no call carries. Only asked when something was refused: those who walk
 * a value in order to carry it keep no path.
 */
export function locateRefusal(value: unknown): Uncarriable {
  try {
    return find(value, []) ?? new Uncarriable([], 'a value that changed while it was read')
  } catch (error) {
    return new Uncarriable([], `a value that throws when it is read: ${String(error)}`)
  }
}

function find(value: unknown, path: Path): Uncarriable | undefined {
  if (typeof value === 'function' || typeof value === 'symbol') return refuse(path, value)
  if (typeof value === 'bigint' && isTooLarge(value))
    return new Uncarriable(path, 'an integer of more than 10,000 digits, which no call carries')
  if (typeof value !== 'object' || value === null) return
  if (path.length >= maxDepth)
    return new Uncarriable(path.slice(0, 8), `nested deeper than ${maxDepth} levels, or in itself`)
  if (value instanceof Date || value instanceof Uint8Array) return
  if (Array.isArray(value)) return findIn(value.entries(), path)
  if (value instanceof Map) return findIn([...value].flat().entries(), path)
  if (value instanceof Set) return findIn([...value].entries(), path)
  if (!isPlain(value)) return refuse(path, value)
  return findIn(Object.entries(value), path)
}

function findIn(entries: Iterable<[string | number, unknown]>, path: Path): Uncarriable | undefined {
  for (const [key, part] of entries) {
    if (typeof key === 'string' && pollutes(key, part)) return new Uncarriable([...path, key], 'a key that is refused')
    const found = find(part, [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}

function refuse(path: Path, value: unknown): Uncarriable {
  return new Uncarriable(path, `${nameOf(value)}, which no call carries`)
}
