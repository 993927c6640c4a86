/** Keywords whose content is data, not schemas: a `$ref` in a default value is not a reference. */
export const literalKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'example', 'examples'])

/** Copies a part and renames every `$ref`. */
export function mapReferences<T>(part: T, rename: (reference: string) => string): T {
  return walk(part, rename) as T
}

/** Every `$ref`, in document order. */
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
      return [key, literalKeywords.has(key) ? value : walk(value, rename)]
    }),
  )
}

/** The values of a discriminator's mapping are references or schema names (OpenAPI 3.1, 4.8.25). */
function renameMapping(discriminator: unknown, rename: (reference: string) => string): unknown {
  const { mapping } = (discriminator ?? {}) as { mapping?: Record<string, unknown> }
  if (typeof mapping !== 'object' || mapping === null) return walk(discriminator, rename)
  const renamed = Object.entries(mapping).map(([value, target]) => {
    if (typeof target !== 'string' || /^(?![#])[^]*[/.:]/.test(target)) return [value, target]
    return [value, rename(target.startsWith('#') ? target : `#/components/schemas/${target}`)]
  })
  return { ...(discriminator as object), mapping: Object.fromEntries(renamed) as object }
}
