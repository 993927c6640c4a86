import type { Method } from '../method.ts'
import type { Schema } from '../schema.ts'

/**
 * Whether all values of a method's output are what JSON itself has words for, so that nothing in them is to be looked at for
 * a tag: results have passed that schema. Then `JSON.stringify` is all there is to do, which takes 0.7 to 0.8 of the time of
 * a serialiser that is compiled from the schema (docs/decisions/answers.md). False where the schema cannot say what JSON its
 * values are, or leaves room for others.
 */
export function isUntagged({ output, kind }: Method): boolean {
  return kind === 'fn' && output !== undefined && isPlain(describe(output))
}

interface Describing {
  readonly jsonSchema?: { output(options: { target: 'draft-07' }): unknown }
}

/** By Standard JSON Schema, which throws for what JSON has no words for: dates, maps, transforms. */
function describe(schema: Schema): unknown {
  try {
    return (schema['~standard'] as Describing).jsonSchema?.output({ target: 'draft-07' })
  } catch {
    return undefined
  }
}

const scalars = new Set<unknown>(['string', 'integer', 'number', 'boolean', 'null'])
/** These only narrow what a value may be. */
const narrowing =
  /^(?:\$schema|type|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|minLength|maxLength|minItems|maxItems|uniqueItems|pattern|format|title|description|examples|default|enum|const)$/

function isPlain(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const { type } = schema as { type?: unknown }
  if (type === 'object') return isPlainObject(schema)
  if (type === 'array') return hasOnly(schema, ['items']) && isPlain((schema as { items?: unknown }).items)
  return scalars.has(type) && hasOnly(schema, [])
}

function isPlainObject(schema: object): boolean {
  if (!hasOnly(schema, ['properties', 'required', 'additionalProperties'])) return false
  const { properties = {}, additionalProperties } = schema as { properties?: object; additionalProperties?: unknown }
  return additionalProperties === false && Object.values(properties).every(isPlain)
}

function hasOnly(schema: object, more: readonly string[]): boolean {
  return Object.keys(schema).every((key) => narrowing.test(key) || more.includes(key))
}
