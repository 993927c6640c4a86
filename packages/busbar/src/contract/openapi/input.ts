import type { HttpMapping } from '../http/mapping/http-mapping.ts'
import { hasQuery } from '../http/mapping/http-mapping.ts'
import type { Method } from '../method.ts'
import type { Schema } from '../schema.ts'
import type { Describer } from './describer.ts'
import type { JsonSchema, Parameter } from './types.ts'

export interface DescribedInput {
  readonly parameters: readonly Parameter[]
  readonly requestBody?: object
}

/** Describes where the parts of an input go: path, query or body. */
export function describeInput({ input, http }: Method, describer: Describer, subject: string): DescribedInput {
  if (input === undefined) return { parameters: [] }
  const whole = describer.describe(input, 'input', subject)
  if (http === undefined) return { parameters: [], requestBody: bodyOf(whole, !isOptional(input)) }
  const fields = fieldsOf(describer, whole)
  const inPath = http.parameters.map((name) => parameterOf(describer, name, 'path', fields))
  if (hasQuery(http)) return { parameters: [...inPath, ...queryOf(describer, http, whole, fields)] }
  if (http.parameters.length === 0) return { parameters: [], requestBody: bodyOf(whole, !isOptional(input)) }
  const rest = withoutFields(whole, fields, http)
  return { parameters: inPath, ...(rest !== undefined && { requestBody: bodyOf(rest, isRequired(rest)) }) }
}

/**
 * Whether a schema accepts `undefined`, tested by validating `undefined`: JSON Schema cannot
 * express it.
 */
export function isOptional(schema: Schema): boolean {
  try {
    const result = schema['~standard'].validate(undefined)
    // The result is ignored; a rejection must not be unhandled.
    if (result instanceof Promise) result.catch(() => {})
    return !(result instanceof Promise) && result.issues === undefined
  } catch {
    return false
  }
}

interface Fields {
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: readonly string[]
  /** The object's other keywords. */
  readonly object: JsonSchema
}

/** Undefined if a schema is not a single object, such as a union. */
function fieldsOf(describer: Describer, whole: JsonSchema): Fields | undefined {
  const object = describer.schemas.resolve(whole)
  const { properties, required = [], allOf, anyOf, oneOf } = object
  if (properties === undefined || [allOf, anyOf, oneOf].some((choice) => choice !== undefined)) return undefined
  return { properties: properties as Fields['properties'], required: required as string[], object }
}

function queryOf(
  describer: Describer,
  { parameters }: HttpMapping,
  whole: JsonSchema,
  fields: Fields | undefined,
): Parameter[] {
  if (fields === undefined)
    return [{ name: 'input', in: 'query', required: false, style: 'form', explode: true, schema: whole }]
  return Object.keys(fields.properties)
    .filter((name) => !parameters.includes(name))
    .map((name) => parameterOf(describer, name, 'query', fields))
}

/**
 * Values that are not text are JSON, in a path and in a query: see `http/mapping/text-fields.ts`.
 */
function parameterOf(
  describer: Describer,
  name: string,
  place: 'path' | 'query',
  fields: Fields | undefined,
): Parameter {
  const schema = fields?.properties[name] ?? {}
  const required = place === 'path' || fields!.required.includes(name)
  const { description } = schema as { description?: string }
  const parameter = { name, in: place, required, ...(description !== undefined && { description }) }
  const isText = isScalar(describer, schema) || (place === 'query' && isList(describer, schema))
  return isText ? { ...parameter, schema } : { ...parameter, content: { 'application/json': { schema } } }
}

const scalars = new Set<unknown>(['string', 'number', 'integer', 'boolean'])

function isScalar(describer: Describer, schema: JsonSchema): boolean {
  const { type, enum: choices, const: only, anyOf, oneOf } = describer.schemas.resolve(schema)
  const alternatives = (anyOf ?? oneOf) as JsonSchema[] | undefined
  if (alternatives !== undefined) return alternatives.every((one) => isScalar(describer, one))
  if (type !== undefined) return [type].flat().every((one) => scalars.has(one))
  if (Array.isArray(choices)) return choices.every((one) => scalars.has(typeof one))
  return only === undefined ? Object.keys(schema).length === 0 : scalars.has(typeof only)
}

/** Repeated parameters: `?id=1&id=2`. */
function isList(describer: Describer, schema: JsonSchema): boolean {
  const { type, items } = describer.schemas.resolve(schema)
  return type === 'array' && typeof items === 'object' && items !== null && isScalar(describer, items as JsonSchema)
}

/** The body without the fields in the path; undefined if none are left. */
function withoutFields(
  whole: JsonSchema,
  fields: Fields | undefined,
  { parameters }: HttpMapping,
): JsonSchema | undefined {
  if (fields === undefined) return whole
  const left = Object.entries(fields.properties).filter(([name]) => !parameters.includes(name))
  if (left.length === 0) return undefined
  const required = fields.required.filter((name) => !parameters.includes(name))
  const { required: _, ...object } = fields.object
  return { ...object, properties: Object.fromEntries(left), ...(required.length > 0 && { required }) }
}

function isRequired({ required = [] }: { readonly required?: readonly string[] }): boolean {
  return required.length > 0
}

function bodyOf(schema: JsonSchema, required: boolean): object {
  return { required, content: { 'application/json': { schema } } }
}
