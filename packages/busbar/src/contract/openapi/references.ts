/** Values are not looked into: a default that has a field `$ref` refers to nothing. */
const values = new Set(['const', 'enum', 'default', 'example', 'examples'])

/** A copy in which every `$ref` is what `rename` makes of it. */
export function mapReferences<T>(part: T, rename: (reference: string) => string): T {
  return walk(part, rename) as T
}

/** Every `$ref` in it, in the order they are met. */
export function referencesIn(part: unknown): string[] {
  const found: string[] = []
  walk(part, (reference) => {
    found.push(reference)
    return reference
  })
  return found
}

function walk(part: unknown, rename: (reference: string) => string): unknown {
  if (Array.isArray(part)) return part.map((one) => walk(one, rename))
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (key === '$ref' && typeof value === 'string') return [key, rename(value)]
      return [key, values.has(key) ? value : walk(value, rename)]
    }),
  )
}
