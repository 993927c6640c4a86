import type { Schema } from '../schema.ts'

/** What a field takes that stands in a path or a query, where it takes no text. */
export type FieldKind = 'json' | 'list'

/** As much of Standard JSON Schema as is asked. */
interface Described {
  readonly jsonSchema?: { input?(options: { target: string; libraryOptions: object }): unknown }
}

/**
 * Says by the JSON Schema of an input which reading of a refused text its sender meant. So `?limit=0` is told that 0 is too
 * small, and not that it is text. Undefined where nothing is said, or where the field may be text.
 */
export function kindOf(schema: Schema, field: string): FieldKind | undefined {
  const { properties } = describe(schema) as { properties?: Record<string, { type?: unknown }> }
  const type = properties !== undefined && Object.hasOwn(properties, field) ? properties[field]?.type : undefined
  if (type === 'array') return 'list'
  return type === 'number' || type === 'integer' || type === 'boolean' ? 'json' : undefined
}

const described = new WeakMap<Schema, object>()

function describe(schema: Schema): object {
  const known = described.get(schema)
  if (known !== undefined) return known
  const document = write(schema)
  described.set(schema, document)
  return document
}

function write(schema: Schema): object {
  const { jsonSchema } = schema['~standard'] as Described
  try {
    const options = { target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } }
    return (jsonSchema?.input?.(options) as object | undefined) ?? {}
  } catch {
    return {}
  }
}
