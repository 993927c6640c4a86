import type { Schema } from '../../schema.ts'

/** What a field in a path or a query accepts, if not text. */
export type FieldKind = 'json' | 'list'

/** The part of Standard JSON Schema that is used here. */
interface Described {
  readonly jsonSchema?: { input?(options: { target: string; libraryOptions: object }): unknown }
}

/**
 * Determines from the input's JSON Schema how the sender meant a text that was refused. So the
 * error for `?limit=0` says that 0 is too small, not that it is text. Undefined if nothing is
 * known, or if the field accepts text.
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
