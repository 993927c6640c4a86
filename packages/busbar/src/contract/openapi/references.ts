/** Values are not looked into: a default that has a field `$ref` refers to nothing. */
export const values: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'example', 'examples'])

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
      if (key === 'discriminator') return [key, renameMapping(value, rename)]
      return [key, values.has(key) ? value : walk(value, rename)]
    }),
  )
}

/** Whose values are references, or names of schemas alone (OpenAPI 3.1, 4.8.25). */
function renameMapping(discriminator: unknown, rename: (reference: string) => string): unknown {
  const { mapping } = (discriminator ?? {}) as { mapping?: Record<string, unknown> }
  if (typeof mapping !== 'object' || mapping === null) return walk(discriminator, rename)
  const renamed = Object.entries(mapping).map(([value, target]) => {
    if (typeof target !== 'string' || /^(?![#])[^]*[/.:]/.test(target)) return [value, target]
    return [value, rename(target.startsWith('#') ? target : `#/components/schemas/${target}`)]
  })
  return { ...(discriminator as object), mapping: Object.fromEntries(renamed) as object }
}
