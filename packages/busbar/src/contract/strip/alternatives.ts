import { isPlainObject } from '../value/serialisable.ts'
import type { JsonSchema, ObjectShape } from './object-shapes.ts'

/** Whether a field that both objects require distinguishes them, by its values or its type. */
export function areDistinguishable(one: ObjectShape, other: ObjectShape): boolean {
  return [...one.required].some((name) => {
    if (!other.required.has(name)) return false
    const first = one.fields.get(name)
    const second = other.fields.get(name)
    return first !== undefined && second !== undefined && excludes(first, second)
  })
}

/**
 * Whether a value that matches one of several shapes matches this one. The shapes are
 * distinguishable, so at most one matches.
 */
export function matchesShape({ fields, required }: ObjectShape, value: Readonly<Record<string, unknown>>): boolean {
  return [...required].every((name) => {
    if (!Object.hasOwn(value, name)) return false
    const schema = fields.get(name)
    return schema === undefined || mayBe(schema, value[name])
  })
}

/** `values`: the allowed values; `types`: the allowed JSON types. Undefined allows any. */
interface Range {
  readonly values: readonly unknown[] | undefined
  readonly types: readonly string[] | undefined
}

function excludes(first: JsonSchema, second: JsonSchema): boolean {
  const one = rangeOf(first)
  const other = rangeOf(second)
  if (one.values !== undefined) return one.values.every((value) => !mayBe(second, value))
  if (other.values !== undefined) return other.values.every((value) => !mayBe(first, value))
  return one.types !== undefined && other.types !== undefined && !one.types.some((type) => other.types!.includes(type))
}

function mayBe(schema: JsonSchema, value: unknown): boolean {
  const { values, types } = rangeOf(schema)
  if (values !== undefined) return values.includes(value)
  return types === undefined || types.includes(typeOf(value))
}

/**
 * Only looks at the schema itself: a reference, or a union of more than values, counts as anything.
 */
function rangeOf(schema: JsonSchema): Range {
  if (typeof schema === 'boolean') return any
  if ('const' in schema) return isScalar(schema['const']) ? { values: [schema['const']], types: undefined } : any
  const { enum: listed, anyOf, type } = schema as { enum?: unknown[]; anyOf?: JsonSchema[]; type?: string | string[] }
  if (listed !== undefined) return listed.every(isScalar) ? { values: listed, types: undefined } : any
  if (anyOf !== undefined) {
    const ranges = anyOf.map(rangeOf)
    if (ranges.every(({ values }) => values !== undefined))
      return { values: ranges.flatMap(({ values }) => values!), types: undefined }
    return any
  }
  return { values: undefined, types: type === undefined ? undefined : [type].flat().map(kindOf) }
}

const any: Range = { values: undefined, types: undefined }

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function kindOf(type: string): string {
  return type === 'integer' ? 'number' : type
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value !== 'object') return typeof value
  if (Array.isArray(value)) return 'array'
  return isPlainObject(value) ? 'object' : 'instance'
}
