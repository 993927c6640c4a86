import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import * as z from 'zod'
import type { Schema } from '../../src/contract/schema.ts'
import { exactnessOf } from '../../src/gateway/typed/exactness.ts'

class Lamp {
  name = 'lamp'
}
const Tree = z.object({
  name: z.string(),
  get parts() {
    return z.array(Tree)
  },
})

/** Each with values that are exactly its own, and with others. */
const known: Record<string, [schema: Schema, exact: unknown[], others: unknown[]]> = {
  text: [z.string(), ['', 'x'], [1, null, undefined, new String('x')]],
  'text of a length': [z.string().min(1).max(3), ['a', 'abc'], ['', 'abcd', ['a']]],
  'whole numbers': [z.int(), [0, -1, 2 ** 53 - 1], [0.5, 2 ** 53, NaN, '1', 1n]],
  numbers: [z.number().gt(0).lte(2), [0.5, 2], [0, 2.1, NaN, Infinity, '1']],
  'yes and no': [z.boolean(), [true, false], [0, 'true']],
  nothing: [z.null(), [null], [undefined, 0]],
  'what may be null': [z.int().nullable(), [null, 1], [undefined, '1']],
  'one of a few': [z.enum(['a', 'b']), ['a'], ['c', ['a']]],
  literals: [z.literal(['a', 1, true]), ['a', 1, true], ['1', 0]],
  lists: [z.array(z.int()).max(2), [[], [1, 2]], [[1, 2, 3], ['1'], { length: 0 }, Array(2)]],
  objects: [
    z.object({ id: z.int(), name: z.string().optional() }),
    [{ id: 1 }, { id: 1, name: 'x' }, { name: 'x', id: 1 }, Object.assign(Object.create(null), { id: 1 })],
    [{}, { id: 1, secret: 1 }, { id: 1, name: 2 }, { id: 1, toJSON: () => 0 }, Object.create({ id: 1 }), [], null],
  ],
  'strict objects': [z.strictObject({ name: z.string() }), [{ name: 'x' }], [{ name: 'x', more: 1 }, new Lamp()]],
  'names of every kind': [z.object({ 'a"b': z.int(), '\u2028': z.int() }), [{ 'a"b': 1, '\u2028': 2 }], [{ 'a"b': 1 }]],
  'what has itself as a part': [
    Tree,
    [{ name: 'a', parts: [{ name: 'b', parts: [] }] }],
    [{ name: 'a', parts: [{ name: 1, parts: [] }] }],
  ],
}

/** Of these a value may not be what it seems, or another library made them. */
const unknown: Record<string, Schema> = {
  refinements: z.number().refine((value) => value > 1),
  transforms: z.string().transform(Number),
  trimming: z.object({ name: z.string().trim() }),
  defaults: z.object({ name: z.string().default('x') }),
  'text of a form': z.object({ mail: z.email() }),
  coercion: z.coerce.number(),
  'whole numbers of 32 bits': z.array(z.int32()),
  unions: z.union([z.string(), z.int()]),
  dates: z.date(),
  records: z.record(z.string(), z.int()),
  'loose objects': z.looseObject({ id: z.int() }),
  'refined objects': z.object({ id: z.int() }).refine(({ id }) => id > 1),
  'a field called __proto__': z.object(Object.defineProperty({}, '__proto__', { value: z.int(), enumerable: true })),
  valibot: v.object({ id: v.number() }),
}

describe('a result that is what its schema would make of it', () => {
  for (const [what, [schema, exact, others]] of Object.entries(known))
    it(`is seen of ${what}, and only there`, () => {
      const isExact = exactnessOf(schema)!
      for (const value of exact) {
        assert.equal(isExact(value), true)
        assert.deepEqual(schema['~standard'].validate(value), { value: structuredClone(value) })
      }
      for (const value of others) assert.equal(isExact(value), false)
    })

  for (const [what, schema] of Object.entries(unknown))
    it(`is not looked for with ${what}`, () => assert.equal(exactnessOf(schema), undefined))
})
