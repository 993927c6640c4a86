import { mapReferences, referencesIn } from './references.ts'
import type { JsonSchema } from './types.ts'
import type { Side } from './json-schema.ts'

const home = '#/components/schemas/'

/**
 * The schemas of a document. Libraries convert each schema to a document of its own, with `$defs`
 * and references from its root; here these parts become components, without duplicates.
 */
export class Schemas {
  readonly #schemas = new Map<string, JsonSchema>()
  /** The definition of each name as text, with everything that it refers to. */
  readonly #meanings = new Map<string, string>()

  /** `hint` names parts for which the library has no name. */
  add(document: JsonSchema, hint: string, side: Side): JsonSchema {
    const { $schema: _, $defs, ...root } = document
    const parts = new Map(Object.entries(($defs ?? {}) as Record<string, JsonSchema>))
    const isRecursive = referencesIn(document).includes('#')
    if (isRecursive) parts.set('', root)
    const names = new Map([...parts.keys()].map((part) => [part, this.#claim(part, parts, hint, side)]))
    const rename = (reference: string): string => {
      const name = names.get(partOf(reference) ?? '\0')
      return name === undefined ? reference : home + name
    }
    for (const [part, name] of names) this.#schemas.set(name, mapReferences(parts.get(part)!, rename))
    return isRecursive ? { $ref: home + names.get('')! } : mapReferences(root, rename)
  }

  /** Defines one of Busbar's own schemas. */
  define(name: string, schema: JsonSchema): JsonSchema {
    this.#schemas.set(name, schema)
    this.#meanings.set(name, '')
    return { $ref: home + name }
  }

  /** Resolves a reference; returns anything else unchanged. */
  resolve(schema: JsonSchema): JsonSchema {
    const { $ref } = schema
    const found =
      typeof $ref === 'string' && $ref.startsWith(home) ? this.#schemas.get($ref.slice(home.length)) : schema
    return found ?? schema
  }

  toComponents(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#schemas].toSorted(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** A schema may differ between input and output; then both get a name. */
  #claim(part: string, parts: ReadonlyMap<string, JsonSchema>, hint: string, side: Side): string {
    const meaning = meaningOf(part, parts)
    const wanted = toName(isNamed(part) ? part : hint)
    const other = `${wanted}${side === 'input' ? 'Input' : 'Output'}`
    for (let at = 0; ; at++) {
      const name = at === 0 ? wanted : at === 1 ? other : `${other}${at}`
      const known = this.#meanings.get(name)
      if (known === undefined) this.#meanings.set(name, meaning)
      if (known === undefined || known === meaning) return name
    }
  }
}

function partOf(reference: string): string | undefined {
  if (reference === '#') return ''
  const [, part] = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(reference) ?? []
  return part === undefined ? undefined : decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
}

/** A part with everything that it refers to, so that equal text means an equal schema. */
function meaningOf(start: string, parts: ReadonlyMap<string, JsonSchema>): string {
  const reached = new Set([start])
  for (const part of reached)
    for (const reference of referencesIn(parts.get(part))) {
      const next = partOf(reference)
      if (next !== undefined && parts.has(next)) reached.add(next)
    }
  return JSON.stringify([...reached].map((part) => [part === start ? '' : part, parts.get(part)]))
}

/** Generated names: Zod counts `__schema0`, Valibot `0`, ArkType `intersection12`. */
function isNamed(part: string): boolean {
  return !/^(?:(?:__schema|alias|domain|intersection|morph|proto|union|unit)?\d+)?$/.test(part)
}

/** The characters that OpenAPI allows in a component name. */
function toName(text: string): string {
  return text.replaceAll(/[^\w.-]/g, '_')
}
