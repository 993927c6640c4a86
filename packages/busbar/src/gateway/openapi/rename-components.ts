import { mapReferences, referencesIn } from '../../contract/openapi/references.ts'
import type { Components, OpenApiDocument } from '../../contract/openapi/types.ts'

interface Renaming {
  /** The document with renamed components and references. */
  readonly document: OpenApiDocument
  /** Old name, such as `schemas/Product`, to new name. */
  readonly renamed: ReadonlyMap<string, string>
}

/**
 * Renames the components of `document` that conflict with `known`. A component that is equal there,
 * with everything that it refers to, keeps its name. A different component with the same name gets
 * its service's name as a prefix.
 */
export function renameComponents(document: OpenApiDocument, known: Components, service: string): Renaming {
  const own = flat(document.components)
  const theirs = flat(known)
  const taken = new Set([...own.keys(), ...theirs.keys()])
  const renamed = new Map<string, string>()
  for (const key of differingIn(own, theirs)) {
    const name = freeName(key, service, taken)
    taken.add(name)
    renamed.set(key, name)
  }
  return { document: withNames(document, renamed), renamed }
}

/** Maps `schemas/Product` to its content. */
function flat(components: Components = {}): Map<string, unknown> {
  return new Map(
    Object.entries(components).flatMap(([kind, parts]) =>
      kind.startsWith('x-') ? [] : Object.entries(parts).map(([name, part]) => [`${kind}/${name}`, part] as const),
    ),
  )
}

/** Includes components that refer to a different component: their meaning differs too. */
function differingIn(own: ReadonlyMap<string, unknown>, theirs: ReadonlyMap<string, unknown>): Set<string> {
  const shared = [...own.keys()].filter((key) => theirs.has(key))
  const differing = new Set(shared.filter((key) => textOf(own.get(key)) !== textOf(theirs.get(key))))
  for (let before = -1; before < differing.size;) {
    before = differing.size
    for (const key of shared)
      if (referencesIn(own.get(key)).some((reference) => differing.has(keyOf(reference) ?? ''))) differing.add(key)
  }
  return differing
}

function freeName(key: string, service: string, taken: ReadonlySet<string>): string {
  const [, kind, name] = /^([^/]+)\/(.*)$/.exec(key)!
  for (let at = 1; ; at++) {
    const candidate = `${kind}/${service}.${name}${at === 1 ? '' : `-${at}`}`
    if (!taken.has(candidate)) return candidate
  }
}

function withNames(document: OpenApiDocument, renamed: ReadonlyMap<string, string>): OpenApiDocument {
  if (renamed.size === 0) return document
  const referring = mapReferences(document, (reference) => {
    const key = keyOf(reference)
    const now = key === undefined ? undefined : renamed.get(key)
    return now === undefined ? reference : reference.replace(`#/components/${key!}`, `#/components/${now}`)
  })
  const components = Object.entries(referring.components ?? {}).map(([kind, parts]) => [
    kind,
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [nameOf(renamed, kind, name), part])),
  ])
  return withSchemes({ ...referring, components: Object.fromEntries(components) as Components }, renamed)
}

function nameOf(renamed: ReadonlyMap<string, string>, kind: string, name: string): string {
  return renamed.get(`${kind}/${name}`)?.slice(kind.length + 1) ?? name
}

/** Security requirements refer to schemes by name only. */
function withSchemes(document: OpenApiDocument, renamed: ReadonlyMap<string, string>): OpenApiDocument {
  if (![...renamed.keys()].some((key) => key.startsWith('securitySchemes/'))) return document
  return mapSecurity(document, (name) => nameOf(renamed, 'securitySchemes', name))
}

function mapSecurity<T>(part: T, rename: (name: string) => string): T {
  if (Array.isArray(part)) return part.map((one) => mapSecurity<unknown>(one, rename)) as T
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]: [string, unknown]) => [
      key,
      key === 'security' && Array.isArray(value)
        ? value.map((one) => renamedKeys(one, rename))
        : mapSecurity(value, rename),
    ]),
  ) as T
}

function renamedKeys(requirement: unknown, rename: (name: string) => string): unknown {
  if (typeof requirement !== 'object' || requirement === null) return requirement
  return Object.fromEntries(Object.entries(requirement).map(([name, scopes]) => [rename(name), scopes]))
}

/** `#/components/schemas/Product/properties/id` belongs to `schemas/Product`. */
function keyOf(reference: string): string | undefined {
  return /^#\/components\/([^/]+\/[^/]+)/.exec(reference)?.[1]
}

/** JSON text that does not depend on the order of keys. */
function textOf(part: unknown): string {
  return JSON.stringify(part, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )
}
