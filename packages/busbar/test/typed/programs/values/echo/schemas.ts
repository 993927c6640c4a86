import { type as ark } from 'arktype'
import type { Schema } from 'busbar/contract'
import * as Type from 'typebox'
import { Compile } from 'typebox/compile'
import * as v from 'valibot'
import * as z from 'zod'

/** The object that TypeScript emits for `enum Level { Low, High }`. */
const Level = { Low: 0, High: 1, 0: 'Low', 1: 'High' } as const

/** Schemas of one library by name, alone and as the field `value` of an object. */
export interface Library {
  readonly schemas: Readonly<Record<string, Schema>>
  readonly fields: Readonly<Record<string, Schema>>
}

/** `wrap`: makes a Standard Schema. `object`: makes the schema of an object with this field. */
function library<T>(parts: Record<string, T>, wrap: (part: T) => unknown, object: (part: T) => unknown): Library {
  const map = (make: (part: T) => unknown): Record<string, Schema> =>
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, make(part) as Schema]))
  return { schemas: map(wrap), fields: map(object) }
}

const same = <T>(part: T): T => part

const zod = library(
  {
    any: z.any(),
    text: z.string(),
    number: z.number(),
    truth: z.boolean(),
    list: z.array(z.string().optional()),
    tagLike: z.object({ $bigint: z.string() }),
    level: z.enum(Level),
    optional: z.object({ a: z.string().optional() }),
    exactOptional: z.object({ a: z.exactOptional(z.string()) }),
    undefinedField: z.object({ a: z.union([z.string(), z.undefined()]) }),
    anyField: z.object({ a: z.any() }),
    nullable: z.string().nullable(),
    union: z.union([z.string(), z.number()]),
    record: z.record(z.string(), z.number()),
    open: z.looseObject({ a: z.string() }),
    nested: z.object({ id: z.int(), items: z.array(z.object({ name: z.string() })) }),
    date: z.object({ at: z.date() }),
    bigint: z.bigint(),
    map: z.map(z.string(), z.any()),
    set: z.set(z.any()),
    tuple: z.tuple([z.string(), z.number()]),
    choice: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), a: z.string() }),
      z.object({ kind: z.literal('b'), b: z.string() }),
    ]),
    maybe: z.object({ a: z.string() }).optional(),
    defaulted: z.object({ a: z.string().default('x') }),
    coerced: z.coerce.number(),
    transformed: z.string().transform((text) => [text.length, new Date(text.length)]),
    later: z.string().refine(async (text) => text.length > 1),
  } as Record<string, z.ZodType>,
  same,
  (value) => z.object({ value }),
)

const valibot = library(
  {
    any: v.any(),
    text: v.string(),
    number: v.number(),
    truth: v.boolean(),
    list: v.array(v.optional(v.string())),
    tagLike: v.object({ $bigint: v.string() }),
    level: v.enum(Level),
    optional: v.object({ a: v.optional(v.string()) }),
    exactOptional: v.object({ a: v.exactOptional(v.string()) }),
    undefinedField: v.object({ a: v.union([v.string(), v.undefined()]) }),
    anyField: v.object({ a: v.any() }),
    nullable: v.nullable(v.string()),
    union: v.union([v.string(), v.number()]),
    record: v.record(v.string(), v.number()),
    open: v.looseObject({ a: v.string() }),
    nested: v.object({ id: v.pipe(v.number(), v.integer()), items: v.array(v.object({ name: v.string() })) }),
    date: v.object({ at: v.date() }),
    bigint: v.bigint(),
    map: v.map(v.string(), v.any()),
    set: v.set(v.any()),
    tuple: v.tuple([v.string(), v.number()]),
    choice: v.variant('kind', [
      v.object({ kind: v.literal('a'), a: v.string() }),
      v.object({ kind: v.literal('b'), b: v.string() }),
    ]),
    maybe: v.optional(v.object({ a: v.string() })),
    defaulted: v.object({ a: v.optional(v.string(), 'x') }),
    coerced: v.pipe(v.any(), v.transform(Number)),
    transformed: v.pipe(
      v.string(),
      v.transform((text) => [text.length, new Date(text.length)]),
    ),
    later: v.pipeAsync(
      v.string(),
      v.checkAsync(async (text) => text.length > 1),
    ),
  } as Record<string, v.GenericSchema | v.GenericSchemaAsync>,
  same,
  (value) => v.objectAsync({ value }),
)

const arktype = library(
  {
    any: ark('unknown'),
    text: ark('string'),
    number: ark('number'),
    truth: ark('boolean'),
    list: ark('(string | undefined)[]'),
    tagLike: ark({ $bigint: 'string' }),
    level: ark.enumerated(0, 1),
    optional: ark({ 'a?': 'string | undefined' }),
    exactOptional: ark({ 'a?': 'string' }),
    undefinedField: ark({ a: 'string | undefined' }),
    anyField: ark({ a: 'unknown' }),
    nullable: ark('string | null'),
    union: ark('string | number'),
    record: ark({ '[string]': 'number' }),
    open: ark({ a: 'string', '[string]': 'unknown' }),
    nested: ark({ id: 'number.integer', items: ark({ name: 'string' }).array() }),
    date: ark({ at: 'Date' }),
    bigint: ark('bigint'),
    map: ark('Map'),
    set: ark('Set'),
    tuple: ark(['string', 'number']),
    choice: ark({ kind: "'a'", a: 'string' }).or({ kind: "'b'", b: 'string' }),
    maybe: ark({ a: 'string' }).or('undefined'),
    defaulted: ark({ a: "string = 'x'" }),
    transformed: ark('string').pipe((text) => [text.length, new Date(text.length)]),
  } as Record<string, unknown>,
  same,
  (value) => ark({ value } as never),
)

/** The adapter of docs/reference/contract.md. */
function typebox(schema: Type.TSchema): unknown {
  const compiled = Compile(schema)
  const issuesOf = (value: unknown): unknown =>
    compiled.Errors(value).map(({ instancePath, message }) => ({ message, path: instancePath.split('/').slice(1) }))
  const validate = (value: unknown): unknown => (compiled.Check(value) ? { value } : { issues: issuesOf(value) })
  const jsonSchema = { input: () => schema, output: () => schema }
  return { '~standard': { version: 1, vendor: 'typebox', validate, jsonSchema } }
}

const typeboxes = library(
  {
    any: Type.Unknown(),
    text: Type.String(),
    number: Type.Number(),
    truth: Type.Boolean(),
    list: Type.Array(Type.Union([Type.String(), Type.Undefined()])),
    tagLike: Type.Object({ $bigint: Type.String() }),
    level: Type.Enum([0, 1]),
    optional: Type.Object({ a: Type.Optional(Type.String()) }),
    undefinedField: Type.Object({ a: Type.Union([Type.String(), Type.Undefined()]) }),
    anyField: Type.Object({ a: Type.Unknown() }),
    nullable: Type.Union([Type.String(), Type.Null()]),
    union: Type.Union([Type.String(), Type.Number()]),
    record: Type.Record(Type.String(), Type.Number()),
    open: Type.Object({ a: Type.String() }, { additionalProperties: true }),
    nested: Type.Object({ id: Type.Integer(), items: Type.Array(Type.Object({ name: Type.String() })) }),
    bigint: Type.BigInt(),
    tuple: Type.Tuple([Type.String(), Type.Number()]),
    choice: Type.Union([
      Type.Object({ kind: Type.Literal('a'), a: Type.String() }),
      Type.Object({ kind: Type.Literal('b'), b: Type.String() }),
    ]),
    maybe: Type.Union([Type.Object({ a: Type.String() }), Type.Undefined()]),
  } as Record<string, Type.TSchema>,
  typebox,
  (value) => typebox(Type.Object({ value })),
)

export const libraries: Readonly<Record<string, Library>> = { zod, valibot, arktype, typebox: typeboxes }
