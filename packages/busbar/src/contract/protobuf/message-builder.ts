import type { Describer } from '../openapi/describer.ts'
import type { Side } from '../openapi/json-schema.ts'
import type { JsonSchema } from '../openapi/types.ts'
import type { Schema } from '../schema.ts'
import { tags } from '../value/serialisable.ts'
import type { Field, FieldShape, FieldType, Message } from './model.ts'
import { toFieldName, toTypeName, unique } from './names.ts'

/** What a schema is in protobuf, as the type of a field. */
interface Mapped {
  readonly type: FieldType
  readonly list: 'none' | 'repeated' | 'map'
  readonly nullable: boolean
}

export type DraftField = Omit<Field, 'number'>
export type Draft = Omit<Message, 'fields'> & { readonly fields: readonly DraftField[] }

const any: Mapped = { type: { kind: 'any' }, list: 'none', nullable: false }
const components = '#/components/schemas/'

/**
 * Makes messages of the JSON Schemas of a contract, without numbers. What protobuf has no type for
 * (unions, tuples, lists of lists) is a `google.protobuf.Value`, so that nothing is lost.
 */
export class MessageBuilder {
  readonly messages = new Map<string, Draft>()
  readonly #describer: Describer
  /** The message of each named schema. */
  readonly #named = new Map<string, string>()
  readonly #reserved: readonly string[]

  /** `reserved`: names that no message may have, such as that of the service. */
  constructor(describer: Describer, reserved: readonly string[]) {
    this.#describer = describer
    this.#reserved = reserved
  }

  /** The message of an input or a result: of its own name if the schema has none. */
  add(schema: Schema | undefined, side: Side, name: string): string {
    if (schema === undefined) return this.#put(name, { name, fields: [] })
    const described = this.#describer.describe(schema, side, name)
    const named = this.#nameOf(described)
    const fields = this.#fieldsOf(this.#resolve(described))
    if (fields !== undefined) return named === undefined ? this.#object(name, described) : this.#ofName(named)
    const { type, list, nullable } = this.#map(described, name)
    const key = list === 'repeated' ? 'items' : 'value'
    const shape: FieldShape =
      list === 'none' ? { is: 'single', presence: nullable ? 'nullable' : 'implicit' } : { is: list, optional: false }
    return this.#put(name, { name, wraps: true, fields: [{ key, name: key, type, shape }] })
  }

  get #taken(): ReadonlySet<string> {
    return new Set([...this.#reserved, ...this.messages.keys()])
  }

  #put(wanted: string, message: Draft): string {
    const name = unique(wanted, this.#taken)
    this.messages.set(name, { ...message, name })
    return name
  }

  #ofName(schemaName: string): string {
    const known = this.#named.get(schemaName)
    if (known !== undefined) return known
    const name = unique(toTypeName(schemaName), this.#taken)
    this.#named.set(schemaName, name)
    return this.#object(name, { $ref: components + schemaName })
  }

  /** Takes the name before it looks at the fields: a message may contain itself. */
  #object(wanted: string, described: JsonSchema): string {
    const schema = this.#resolve(described)
    const name = this.#put(wanted, { name: wanted, fields: [] })
    const required = new Set((schema['required'] as string[] | undefined) ?? [])
    const taken = new Set<string>()
    const fields = Object.entries(this.#fieldsOf(schema)!).map(([key, part]): DraftField => {
      const field = unique(toFieldName(key), taken, '_')
      taken.add(field)
      const mapped = this.#map(part, name + toTypeName(key))
      // A message has its own description.
      const described = mapped.type.kind === 'message' ? part : this.#resolve(part)
      return { key, name: field, ...shaped(mapped, required.has(key)), docs: docsOf(described) }
    })
    this.messages.set(name, { name, fields, docs: docsOf(schema) })
    return name
  }

  /** The properties of an object that has no others. */
  #fieldsOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> | undefined {
    const { type, properties, additionalProperties = false } = schema
    if (type !== 'object' || properties === undefined || additionalProperties !== false) return undefined
    return tagOf(schema) === undefined ? (properties as Record<string, JsonSchema>) : undefined
  }

  #nameOf({ $ref }: JsonSchema): string | undefined {
    return typeof $ref === 'string' && $ref.startsWith(components) ? $ref.slice(components.length) : undefined
  }

  #resolve(schema: JsonSchema): JsonSchema {
    return this.#describer.schemas.resolve(schema)
  }

  #map(described: JsonSchema, hint: string): Mapped {
    const named = this.#nameOf(described)
    const schema = this.#resolve(described)
    const variants = (schema['anyOf'] ?? schema['oneOf']) as JsonSchema[] | undefined
    if (variants !== undefined) return this.#union(variants, hint)
    if (Array.isArray(schema['type']))
      return this.#union(
        (schema['type'] as string[]).map((type) => ({ ...schema, type })),
        hint,
      )
    const tagged = tagOf(schema)
    if (tagged !== undefined) return taggedTypes[tagged] ?? any
    if (this.#fieldsOf(schema) !== undefined) {
      const name = named === undefined ? this.#object(hint, described) : this.#ofName(named)
      return { ...any, type: { kind: 'message', name } }
    }
    if (schema['type'] === 'array') return this.#list(schema['items'], 'repeated', schema, hint)
    if (schema['type'] === 'object') return this.#list(schema['additionalProperties'], 'map', schema, hint)
    return scalarOf(schema) ?? any
  }

  /** A type or null. Other unions are values of any kind. */
  #union(variants: readonly JsonSchema[], hint: string): Mapped {
    const others = variants.filter((variant) => this.#resolve(variant)['type'] !== 'null')
    const [only] = others
    if (only === undefined) return any
    if (others.length > 1) return scalarOf({ enum: others.map((one) => one['const']) }) ?? any
    const mapped = this.#map(only, hint)
    if (others.length === variants.length) return mapped
    return mapped.list === 'none' && mapped.type.kind !== 'any' ? { ...mapped, nullable: true } : any
  }

  #list(item: unknown, list: 'repeated' | 'map', schema: JsonSchema, hint: string): Mapped {
    if (typeof item !== 'object' || item === null || schema['prefixItems'] !== undefined) return any
    if (schema['properties'] !== undefined && Object.keys(schema['properties'] as object).length > 0) return any
    const mapped = this.#map(item as JsonSchema, list === 'map' ? `${hint}Entry` : singular(hint))
    if (mapped.list !== 'none' || mapped.nullable) return { ...any, list }
    return { ...mapped, list }
  }
}

/** A field may be left out and null at once: only a value of any kind can tell the two apart. */
function shaped({ type, list, nullable }: Mapped, required: boolean): Pick<DraftField, 'type' | 'shape'> {
  if (list !== 'none') return { type, shape: { is: list, optional: !required } }
  if (nullable && !required) return { type: any.type, shape: { is: 'single', presence: 'optional' } }
  return { type, shape: { is: 'single', presence: nullable ? 'nullable' : required ? 'implicit' : 'optional' } }
}

const taggedTypes: Readonly<Record<string, Mapped>> = {
  [tags.date]: { ...any, type: { kind: 'date' } },
  [tags.bytes]: { ...any, type: { kind: 'scalar', scalar: 'bytes' } },
  [tags.bigint]: { ...any, type: { kind: 'bigint' } },
}

const tagNames: ReadonlySet<string> = new Set(Object.values(tags))

/** For a value that JSON cannot express: see `openapi/json-schema.ts`. */
function tagOf({ properties }: JsonSchema): string | undefined {
  const keys = Object.keys((properties as object | undefined) ?? {})
  return keys.length === 1 && tagNames.has(keys[0]!) ? keys[0] : undefined
}

function scalarOf(schema: JsonSchema): Mapped | undefined {
  const listed = (schema['enum'] as unknown[] | undefined) ?? ('const' in schema ? [schema['const']] : [])
  const types = new Set(listed.map((one) => (Number.isInteger(one) ? 'integer' : typeof one)))
  if (types.size > 1) return undefined
  const [listedType] = types
  const scalar = scalarTypes[String(listedType ?? schema['type'])]
  return scalar && { ...any, type: { kind: 'scalar', scalar: scalar === 'int64' ? integerOf(schema) : scalar } }
}

const scalarTypes: Readonly<Record<string, 'string' | 'bool' | 'double' | 'int64'>> = {
  string: 'string',
  boolean: 'bool',
  number: 'double',
  integer: 'int64',
}

/**
 * Only a schema for exactly 32 bits is one. Otherwise a bound that is raised later would change the
 * type.
 */
function integerOf({ minimum, maximum }: JsonSchema): 'int32' | 'uint32' | 'int64' {
  if (minimum === -(2 ** 31) && maximum === 2 ** 31 - 1) return 'int32'
  return minimum === 0 && maximum === 2 ** 32 - 1 ? 'uint32' : 'int64'
}

function singular(name: string): string {
  return /[^s]s$/.test(name) ? name.slice(0, -1) : `${name}Item`
}

/** With the values of an enumeration: they are text in protobuf, so that more may be added. */
function docsOf(schema: JsonSchema): string | undefined {
  if (tagOf(schema) !== undefined) return undefined
  const { description, enum: values } = schema
  const listed = Array.isArray(values) ? `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}.` : ''
  const text = [typeof description === 'string' ? description : '', listed].filter((part) => part !== '').join(' ')
  return text === '' ? undefined : text
}
