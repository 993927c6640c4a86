import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { InputIssue } from './errors.ts'

/** Anything that implements Standard Schema: Zod, Valibot, ArkType and others. */
export type Schema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>

export type InputOf<S extends Schema> = StandardSchemaV1.InferInput<S>
export type OutputOf<S extends Schema> = StandardSchemaV1.InferOutput<S>

export type Checked =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly InputIssue[] }

/** Validates a value. */
export type Check = (value: unknown) => Checked | Promise<Checked>

const vendor = 'busbar'

/**
 * A type without a schema. Nothing is validated, so it is only for calls that never come from
 * outside.
 */
export function type<T>(): Schema<T> {
  return { '~standard': { version: 1, vendor, validate: (value) => ({ value: value as T }) } }
}

export function isSchema(value: unknown): value is Schema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as Partial<Schema>)['~standard']
  return standard?.version === 1 && typeof standard.validate === 'function'
}

/** False for undefined and for {@link type}. */
export function checksAnything(schema: Schema | undefined): schema is Schema {
  return schema !== undefined && schema['~standard'].vendor !== vendor
}

/** The check of a schema; undefined if it accepts everything. */
export function checkOf(schema: Schema | undefined): Check | undefined {
  if (!checksAnything(schema)) return undefined
  const standard = schema['~standard']
  return (value) => {
    const result = standard.validate(value)
    return result instanceof Promise ? result.then(toChecked) : toChecked(result)
  }
}

function toChecked(result: StandardSchemaV1.Result<unknown>): Checked {
  return result.issues === undefined ? result : { issues: result.issues.map(toIssue) }
}

function toIssue({ path = [], message }: StandardSchemaV1.Issue): InputIssue {
  return { path: Array.from(path, toKey), message }
}

function toKey(segment: PropertyKey | StandardSchemaV1.PathSegment): string | number {
  const key = typeof segment === 'object' ? segment.key : segment
  return typeof key === 'symbol' ? String(key) : key
}
