import { checksAnything, type Schema } from '../schema.ts'
import { tags } from '../value/serialisable.ts'
import { literalKeywords } from './references.ts'
import type { JsonSchema } from './types.ts'

/** From the caller's side: what is passed, or what is returned. */
export type Side = 'input' | 'output'

/** `toJsonSchema` of `@valibot/to-json-schema`, an optional package. */
export type ValibotConverter = (
  schema: never,
  options: {
    typeMode: Side
    errorMode: 'ignore'
    target: 'draft-2020-12'
    overrideSchema(context: { valibotSchema: ValibotPart }): JsonSchema | undefined
  },
) => unknown

export interface Converters {
  readonly valibot?: ValibotConverter | undefined
}

/** A schema as JSON Schema, or the reason why that is not possible. */
export type ConvertedSchema =
  | { readonly document: JsonSchema; readonly missing?: undefined }
  | { readonly missing: string; readonly document?: undefined }

/** Describes a nested schema, such as the values of a map. */
type Nested = (schema: unknown) => JsonSchema

/** Standard JSON Schema: implemented by Zod and ArkType; other schemas can be wrapped. */
interface Standard {
  readonly vendor: string
  readonly jsonSchema?: Record<Side, (options: { target: string; libraryOptions?: object }) => unknown>
}

/**
 * Converts a schema to JSON Schema. `nested` describes parts that the library leaves out: the keys
 * and values of a map.
 */
export function toJsonSchema(schema: Schema, side: Side, nested: Nested, { valibot }: Converters): ConvertedSchema {
  if (!checksAnything(schema)) return { missing: 'has a type without a schema' }
  const standard = schema['~standard'] as Standard
  try {
    const written = standard.jsonSchema?.[side]({ target, libraryOptions: optionsFor(standard.vendor, nested) })
    if (written !== undefined) return { document: inJsonTypes(written) as JsonSchema }
    if (standard.vendor !== 'valibot')
      return { missing: `has a schema of ${standard.vendor}, which does not support JSON Schema` }
    if (valibot === undefined)
      return {
        missing: 'has a schema of Valibot, which needs @valibot/to-json-schema to be converted to JSON Schema',
      }
    return { document: valibot(schema as never, valibotOptions(side, nested)) as JsonSchema }
  } catch (error) {
    return {
      missing: `has a schema that cannot be converted to JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}

const target = 'draft-2020-12'

const jsonTypes: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/**
 * TypeBox has additional types, such as `{ type: 'bigint' }`, which would make the whole document
 * invalid.
 */
function inJsonTypes(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(inJsonTypes)
  if (typeof part !== 'object' || part === null) return part
  const { type } = part as { type?: unknown }
  if (typeof type === 'string' && !jsonTypes.has(type)) return taggedType(type, () => ({})) ?? {}
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, literalKeywords.has(key) ? value : inJsonTypes(value)]),
  )
}

function optionsFor(vendor: string, nested: Nested): object | undefined {
  if (vendor === 'zod') return zodOptions(nested)
  return vendor === 'arktype' ? arktypeOptions : undefined
}

interface ZodPart {
  readonly _zod: {
    readonly def: { type: string; keyType?: unknown; valueType?: unknown }
    readonly bag: { Class?: unknown }
  }
}

function zodOptions(nested: Nested): object {
  const override = ({ zodSchema, jsonSchema }: { zodSchema: ZodPart; jsonSchema: object }): void => {
    const { def, bag } = zodSchema._zod
    Object.assign(jsonSchema, taggedType(def.type, nested, def.keyType, def.valueType) ?? taggedInstance(bag.Class))
    withoutSafeBounds(jsonSchema)
  }
  return { unrepresentable: 'any', override }
}

/** Zod gives every integer these bounds, even if the schema has none. */
function withoutSafeBounds(schema: { minimum?: unknown; maximum?: unknown }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

interface ValibotPart {
  readonly type: string
  readonly class?: unknown
  readonly key?: unknown
  readonly value?: unknown
}

function valibotOptions(side: Side, nested: Nested): Parameters<ValibotConverter>[1] {
  return {
    typeMode: side,
    errorMode: 'ignore',
    target,
    overrideSchema: ({ valibotSchema: { type, class: instance, key, value } }) =>
      taggedType(type, nested, key, value) ?? (type === 'instance' ? taggedInstance(instance) : undefined),
  }
}

const arktypeOptions = {
  fallback: {
    date: () => taggedSchemas.date,
    proto: ({ proto, base }: { proto: unknown; base: object }) => taggedInstance(proto) ?? base,
    domain: ({ domain, base }: { domain: string; base: object }) => taggedType(domain, () => ({})) ?? base,
    unit: ({ unit, base }: { unit: unknown; base: object }) => taggedType(typeof unit, () => ({})) ?? base,
  },
}

/**
 * By type names that the libraries share. Undefined for everything that JSON Schema can express.
 */
function taggedType(type: string, nested: Nested, key?: unknown, value?: unknown): JsonSchema | undefined {
  if (type === 'map') return taggedSchemas.map(nested(key), nested(value))
  if (type === 'set') return taggedSchemas.set(nested(value))
  if (type === 'void') return taggedSchemas.undefined
  const plain = {
    date: taggedSchemas.date,
    bigint: taggedSchemas.bigint,
    nan: taggedSchemas.nan,
    undefined: taggedSchemas.undefined,
  }
  return Object.hasOwn(plain, type) ? plain[type as keyof typeof plain] : undefined
}

/**
 * JSON Schemas of the tagged values that `value/encode.ts` writes: values that JSON itself cannot
 * express.
 */
const taggedSchemas = {
  date: tagged(tags.date, { type: ['string', 'null'], format: 'date-time' }, 'A date; `null` is an invalid one.'),
  bytes: tagged(tags.bytes, { type: 'string', contentEncoding: 'base64' }, 'Bytes.'),
  bigint: tagged(tags.bigint, { type: 'string', pattern: '^-?\\d+$' }, 'An integer of any size.'),
  nan: tagged(tags.number, { const: 'NaN' }, 'Not a number.'),
  undefined: tagged(tags.undefined, { const: true }, 'Nothing.'),
  map: (key: JsonSchema, value: JsonSchema): JsonSchema =>
    tagged(tags.map, { type: 'array', items: { type: 'array', prefixItems: [key, value], minItems: 2, maxItems: 2 } }),
  set: (value: JsonSchema): JsonSchema => tagged(tags.set, { type: 'array', items: value }),
} as const

/**
 * The schema of an instance of `constructor`. Undefined if JSON can express it, or if it cannot be
 * serialised.
 */
function taggedInstance(constructor: unknown): JsonSchema | undefined {
  if (constructor === Date) return taggedSchemas.date
  if (constructor === Map) return taggedSchemas.map({}, {})
  if (constructor === Set) return taggedSchemas.set({})
  if (constructor === Uint8Array) return taggedSchemas.bytes
  const isBytes = typeof constructor === 'function' && constructor.prototype instanceof Uint8Array
  return isBytes ? taggedSchemas.bytes : undefined
}

function tagged(tag: string, content: JsonSchema, description?: string): JsonSchema {
  const schema = { type: 'object', properties: { [tag]: content }, required: [tag], additionalProperties: false }
  return description === undefined ? schema : { ...schema, description }
}
