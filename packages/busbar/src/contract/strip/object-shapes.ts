/**
 * The objects and lists that JSON Schema allows at one place. Stripping does not depend on anything
 * else.
 */
export interface Shape {
  readonly object: ObjectShape | undefined
  readonly list: ListShape | undefined
}

export interface ObjectShape {
  readonly fields: ReadonlyMap<string, JsonSchema>
  readonly required: ReadonlySet<string>
  readonly patterns: readonly (readonly [RegExp, JsonSchema])[]
  /** The schema of all other fields; `undefined` if they are not declared. */
  readonly rest: JsonSchema | undefined
  /** The schema refuses other fields, so none occur. */
  readonly isClosed: boolean
}

export interface ListShape {
  readonly first: readonly JsonSchema[]
  readonly rest: JsonSchema | undefined
}

export type JsonSchema = Readonly<Record<string, unknown>> | boolean

/** The declared fields of a value cannot be determined. */
export class AmbiguousFields extends Error {}

/** Reads the JSON Schema of one library. Parts are read on demand: a schema may contain itself. */
export class SchemaDocument {
  readonly #root: JsonSchema

  constructor(root: JsonSchema) {
    this.#root = root
  }

  /**
   * The alternatives of a schema, with unions and references resolved. Throws
   * {@link AmbiguousFields}.
   */
  shapesOf(schema: JsonSchema): readonly Shape[] {
    return this.#alternatives(schema, 0).map(shapeOf)
  }

  /** Alternatives, each a list of keyword sets that all apply. */
  #alternatives(schema: JsonSchema, depth: number): readonly (readonly Keywords[])[] {
    if (typeof schema === 'boolean') return schema ? [[]] : []
    if (depth > 50) throw new AmbiguousFields('refers to itself directly, without an object or a list in between')
    const conditional = conditionals.find((keyword) => (schema[keyword] ?? false) !== false)
    if (conditional !== undefined) throw new AmbiguousFields(`declares fields by \`${conditional}\``)
    const { $ref, allOf = [], anyOf, oneOf, ...own } = schema
    const parts = [...(allOf as JsonSchema[]), ...(typeof $ref === 'string' ? [this.#resolve($ref)] : [])]
    let all: readonly (readonly Keywords[])[] = [[own]]
    for (const part of parts) all = product(all, this.#alternatives(part, depth + 1))
    for (const choice of [anyOf, oneOf] as (JsonSchema[] | undefined)[])
      if (choice !== undefined)
        all = product(
          all,
          choice.flatMap((one) => this.#alternatives(one, depth + 1)),
        )
    return all
  }

  #resolve(reference: string): JsonSchema {
    const [, pointer] = /^#(.*)$/.exec(reference) ?? []
    const names = pointer === undefined ? undefined : pointer.split('/').slice(1).map(unescape)
    const found = names?.reduce<unknown>((at, name) => (at as Keywords | undefined)?.[name], this.#root)
    const named = found ?? (this.#root as Keywords)['$defs']?.[reference as never]
    if (named === undefined) throw new AmbiguousFields(`refers to ${reference}, which is not in its JSON Schema`)
    return named as JsonSchema
  }
}

type Keywords = Readonly<Record<string, unknown>>

/** Keywords that declare fields conditionally; only a validator can evaluate them. */
const conditionals = ['if', 'dependentSchemas', 'unevaluatedProperties', '$dynamicRef'] as const

function product<T>(some: readonly (readonly T[])[], others: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return some.flatMap((one) => others.map((other) => [...one, ...other]))
}

function unescape(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
}

function shapeOf(all: readonly Keywords[]): Shape {
  const mayBe = (type: string): boolean =>
    all.every((one) => one['type'] === undefined || [one['type']].flat().includes(type))
  return {
    object: mayBe('object') && all.every(isNoScalar) ? objectShape(all) : undefined,
    list: mayBe('array') && all.every(isNoScalar) ? listShape(all) : undefined,
  }
}

function isNoScalar(one: Keywords): boolean {
  const values = 'const' in one ? [one['const']] : ((one['enum'] as unknown[] | undefined) ?? [{}])
  return values.some((value) => typeof value === 'object' && value !== null)
}

const anything: JsonSchema = true

function objectShape(all: readonly Keywords[]): ObjectShape {
  const fields = new Map<string, JsonSchema>()
  const patterns: [RegExp, JsonSchema][] = []
  const rests: JsonSchema[] = []
  let declares = false
  let isClosed = false
  for (const { properties, patternProperties, additionalProperties, unevaluatedProperties } of all) {
    isClosed ||= additionalProperties === false || unevaluatedProperties === false
    declares ||= [properties, patternProperties, additionalProperties].some((keyword) => keyword !== undefined)
    for (const [name, schema] of Object.entries((properties ?? {}) as Record<string, JsonSchema>))
      fields.set(name, fields.has(name) ? { allOf: [fields.get(name), schema] } : schema)
    for (const [pattern, schema] of Object.entries((patternProperties ?? {}) as Record<string, JsonSchema>))
      patterns.push([new RegExp(pattern, 'u'), schema])
    if (additionalProperties !== undefined && additionalProperties !== false)
      rests.push(additionalProperties as JsonSchema)
  }
  const required = new Set(all.flatMap((one) => (one['required'] ?? []) as string[]))
  return { fields, required, patterns, rest: declares ? merged(rests) : anything, isClosed }
}

function listShape(all: readonly Keywords[]): ListShape {
  const withItems = all.filter(({ items, prefixItems }) => items !== undefined || prefixItems !== undefined)
  if (withItems.length > 1) throw new AmbiguousFields('has a list with two definitions of its items')
  const { prefixItems = [], items, additionalItems = anything } = withItems[0] ?? {}
  // As before draft 2020-12, and in TypeBox.
  if (Array.isArray(items)) return { first: items as JsonSchema[], rest: additionalItems as JsonSchema }
  return { first: prefixItems as JsonSchema[], rest: (items as JsonSchema | undefined) ?? anything }
}

function merged(schemas: readonly JsonSchema[]): JsonSchema | undefined {
  return schemas.length > 1 ? { allOf: schemas } : schemas[0]
}
