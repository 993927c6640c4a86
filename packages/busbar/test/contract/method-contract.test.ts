import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import * as z from 'zod'
import { fn } from '../../src/contract/index.ts'
import { contractOf } from '../../src/contract/method-contract.ts'
import type { Schema } from '../../src/contract/schema.ts'

const ofInput = (input: Schema): string | undefined => contractOf(fn({ input }))

function listOf(fields: v.ObjectEntries): v.GenericSchema {
  const list: v.GenericSchema = v.object({ ...fields, next: v.optional(v.lazy(() => list)) })
  return list
}

const map: z.ZodType = z.map(
  z.string(),
  z.lazy(() => map),
)
const endless = (): v.GenericSchema => v.object({ one: v.lazy(endless), other: v.lazy(endless) })

describe('two methods have different contracts', () => {
  const some = z.object({ a: z.string() })
  const more = z.object({ a: z.string(), b: z.string() })
  const someOf = v.object({ a: v.string() })
  const pairs: Record<string, [Schema, Schema]> = {
    'fields of an object': [some, more],
    'values of a map': [z.map(z.string(), some), z.map(z.string(), more)],
    'values of a set within an object': [z.object({ all: z.set(some) }), z.object({ all: z.set(more) })],
    'a default that has keys like those of texts for people': [
      z.looseObject({}).default({ title: 'a' }),
      z.looseObject({}).default({ title: 'b' }),
    ],
    'ArkType: fields': [type({ id: 'string' }), type({ id: 'string', 'note?': 'string' })],
    'Valibot: fields': [someOf, v.object({ a: v.string(), b: v.optional(v.string()) })],
    'Valibot: a field that has a name like a text for people': [
      v.object({ message: v.string() }),
      v.object({ message: v.number() }),
    ],
    'Valibot: kinds of values': [someOf, v.number()],
    'Valibot: unknown fields': [someOf, v.looseObject({ a: v.string() })],
    'Valibot: a check': [v.pipe(v.string(), v.minLength(3)), v.pipe(v.string(), v.minLength(4))],
    'Valibot: a pattern': [v.pipe(v.string(), v.regex(/a/)), v.pipe(v.string(), v.regex(/a/i))],
    'Valibot: a date': [v.pipe(v.date(), v.minValue(new Date(5))), v.pipe(v.date(), v.minValue(new Date(6)))],
    'Valibot: a default': [v.optional(v.bigint(), 1n), v.optional(v.bigint(), 2n)],
    'Valibot: a class': [v.instance(Date), v.instance(Uint8Array)],
    'Valibot: a part of itself': [listOf({ id: v.string() }), listOf({ id: v.string(), at: v.date() })],
  }
  for (const [what, [one, other]] of Object.entries(pairs))
    it(what, () => assert.notEqual(ofInput(one), ofInput(other)))
})

describe('two methods have the same contract', () => {
  const pairs: Record<string, [Schema, Schema]> = {
    'order of fields': [z.object({ a: z.string(), b: z.string() }), z.object({ b: z.string(), a: z.string() })],
    'texts for people': [
      z.object({ id: z.string() }),
      z.object({ id: z.string().meta({ title: 'A', deprecated: true }) }),
    ],
    'a map of its own kind': [map, map],
    'Valibot: order of fields': [
      v.object({ a: v.string(), b: v.pipe(v.string(), v.email()) }),
      v.object({ b: v.pipe(v.string(), v.email()), a: v.string() }),
    ],
    'Valibot: texts for people': [
      v.pipe(v.string(), v.maxLength(3)),
      v.pipe(v.string(), v.maxLength(3, 'is too long'), v.title('A'), v.description('b')),
    ],
    'Valibot: functions': [
      v.pipe(
        v.string(),
        v.check((text) => text !== 'a'),
      ),
      v.pipe(
        v.string(),
        v.check(() => true),
      ),
    ],
    'Valibot: asynchronous checks of parts': [v.object({ a: v.string() }), v.objectAsync({ a: v.string() })],
    'Valibot: a part of itself': [listOf({ id: v.string() }), listOf({ id: v.string() })],
    'Valibot: parts without end': [endless(), endless()],
  }
  for (const [what, [one, other]] of Object.entries(pairs)) it(what, () => assert.equal(ofInput(one), ofInput(other)))
})
