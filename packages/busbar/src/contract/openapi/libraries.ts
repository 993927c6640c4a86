import { checksAnything, type Schema } from '../schema.ts'
import { carried, carriedInstance } from './carried.ts'
import { values } from './references.ts'
import type { JsonSchema } from './types.ts'

/** Of the caller: what is given, or what is got. */
export type Side = 'input' | 'output'

/** `toJsonSchema` of `@valibot/to-json-schema`, which is a package of its own. */
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

/** A schema in JSON Schema, or why there is none. */
export type Written =
  | { readonly document: JsonSchema; readonly missing?: undefined }
  | { readonly missing: string; readonly document?: undefined }

/** How a library is made to say in our words what JSON Schema has none for. */
type Nested = (schema: unknown) => JsonSchema

/** Standard JSON Schema: Zod and ArkType have it, others can be wrapped to have it. */
interface Standard {
  readonly vendor: string
  readonly jsonSchema?: Record<Side, (options: { target: string; libraryOptions?: object }) => unknown>
}

/** `nested` describes a part that the library leaves out: the keys and values of a map. */
export function write(schema: Schema, side: Side, nested: Nested, { valibot }: Converters): Written {
  if (!checksAnything(schema)) return { missing: 'has a type without a schema' }
  const standard = schema['~standard'] as Standard
  try {
    const written = standard.jsonSchema?.[side]({ target, libraryOptions: optionsFor(standard.vendor, nested) })
    if (written !== undefined) return { document: inJsonTypes(written) as JsonSchema }
    if (standard.vendor !== 'valibot')
      return { missing: `has a schema of ${standard.vendor}, which does not say it as JSON Schema` }
    if (valibot === undefined)
      return {
        missing:
          'has a schema of Valibot, which only says it as JSON Schema where @valibot/to-json-schema is installed',
      }
    return { document: valibot(schema as never, valibotOptions(side, nested)) as JsonSchema }
  } catch (error) {
    return {
      missing: `has a schema that JSON Schema cannot say: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}

const target = 'draft-2020-12'

const jsonTypes: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** TypeBox has types of its own, such as `{ type: 'bigint' }`, by which the whole document would be invalid. */
function inJsonTypes(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(inJsonTypes)
  if (typeof part !== 'object' || part === null) return part
  const { type } = part as { type?: unknown }
  if (typeof type === 'string' && !jsonTypes.has(type)) return carriedKind(type, () => ({})) ?? {}
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, values.has(key) ? value : inJsonTypes(value)]),
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
    Object.assign(jsonSchema, carriedKind(def.type, nested, def.keyType, def.valueType) ?? carriedInstance(bag.Class))
    withoutSafeBounds(jsonSchema)
  }
  return { unrepresentable: 'any', override }
}

/** Of every integer, where nobody has said any. */
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
      carriedKind(type, nested, key, value) ?? (type === 'instance' ? carriedInstance(instance) : undefined),
  }
}

const arktypeOptions = {
  fallback: {
    date: () => carried.date,
    proto: ({ proto, base }: { proto: unknown; base: object }) => carriedInstance(proto) ?? base,
    domain: ({ domain, base }: { domain: string; base: object }) => carriedKind(domain, () => ({})) ?? base,
    unit: ({ unit, base }: { unit: unknown; base: object }) => carriedKind(typeof unit, () => ({})) ?? base,
  },
}

/** By the words that the libraries have in common. Undefined for everything that JSON Schema has words for. */
function carriedKind(type: string, nested: Nested, key?: unknown, value?: unknown): JsonSchema | undefined {
  if (type === 'map') return carried.map(nested(key), nested(value))
  if (type === 'set') return carried.set(nested(value))
  if (type === 'void') return carried.undefined
  const plain = { date: carried.date, bigint: carried.bigint, nan: carried.nan, undefined: carried.undefined }
  return Object.hasOwn(plain, type) ? plain[type as keyof typeof plain] : undefined
}
