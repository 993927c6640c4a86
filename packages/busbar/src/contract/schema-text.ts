import { digest } from './digest.ts'
import { type Side, toJsonSchema } from './openapi/json-schema.ts'
import { literalKeywords } from './openapi/references.ts'
import type { JsonSchema } from './openapi/types.ts'
import { checksAnything, isSchema, type Schema } from './schema.ts'
import { valibotText } from './valibot-text.ts'

/** Maps and sets that are described at most, in one schema. It may make new ones without end. */
const mostNested = 1_000

/**
 * A text that is the same for schemas that check the same: as JSON Schema, in one order, and
 * without texts for people.
 */
export function schemaText(schema: Schema | undefined, side: Side): string {
  if (schema === undefined) return ''
  return checksAnything(schema) ? new Description(side).of(schema) : 'any'
}

class Description {
  readonly #side: Side
  /** What maps and sets hold, as digests. Undefined while that is described: it may hold itself. */
  readonly #nested = new Map<unknown, string | undefined>()

  constructor(side: Side) {
    this.#side = side
  }

  of(schema: Schema): string {
    const { document } = toJsonSchema(schema, this.#side, (part) => this.#ofNested(part), {})
    const { vendor } = schema['~standard']
    if (document === undefined) return vendor === 'valibot' ? valibotText(schema) : vendor
    return JSON.stringify(canonical(document, vendor === 'zod' ? skippedOfZod : annotations))
  }

  #ofNested(part: unknown): JsonSchema {
    if (!isSchema(part)) return {}
    if (!this.#nested.has(part)) {
      if (this.#nested.size === mostNested) return {}
      this.#nested.set(part, undefined)
      this.#nested.set(part, digest(this.of(part)))
    }
    const described = this.#nested.get(part)
    return described === undefined ? {} : { const: described }
  }
}

const texts = ['title', 'description', 'examples', 'deprecated', '$comment', '$schema', '$id']
const annotations: ReadonlySet<string> = new Set(texts)
/** Zod calls a function that makes a default: its value may be another one in each process. */
const skippedOfZod: ReadonlySet<string> = new Set([...texts, 'default'])

/** Keywords whose keys are names that the contract gives. */
const named: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions'])

/** What the keys of an object are. */
type Keys = 'keywords' | 'names' | 'data'

function canonical(part: unknown, skipped: ReadonlySet<string>, keys: Keys = 'keywords'): unknown {
  const within = keys === 'data' ? 'data' : 'keywords'
  if (Array.isArray(part)) return part.map((one) => canonical(one, skipped, within))
  if (typeof part !== 'object' || part === null) return part
  const isKeyword = keys === 'keywords'
  return Object.entries(part)
    .filter(([key]) => !isKeyword || !skipped.has(key))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => [
      key,
      isKeyword && key === 'required' && Array.isArray(value)
        ? (value as string[]).toSorted((one, other) => (one < other ? -1 : 1))
        : canonical(value, skipped, isKeyword ? keysWithin(key) : within),
    ])
}

function keysWithin(keyword: string): Keys {
  if (named.has(keyword)) return 'names'
  return literalKeywords.has(keyword) ? 'data' : 'keywords'
}
