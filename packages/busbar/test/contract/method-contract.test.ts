import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
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

/** Objects with maps of each other. */
function web(size: number, last: z.ZodRawShape = {}): z.ZodType {
  const parts: z.ZodType[] = []
  for (let at = 0; at < size; at++) {
    const maps = Array.from({ length: size }, (_, to) => [
      `m${to}`,
      z.map(
        z.string(),
        z.lazy(() => parts[to]!),
      ),
    ])
    parts.push(z.object({ [`f${at}`]: z.string(), ...Object.fromEntries(maps), ...(at === size - 1 && last) }))
  }
  return parts[0]!
}

/** Objects with two maps of the one before. */
function chain(length: number, first: z.ZodRawShape = {}): z.ZodType {
  let part: z.ZodType = z.object(first)
  for (let at = 0; at < length; at++) part = z.object({ x: z.map(z.string(), part), y: z.map(z.string(), part) })
  return part
}

const tree = (): z.ZodType => z.object({ a: z.map(z.string(), z.lazy(tree)), b: z.map(z.string(), z.lazy(tree)) })

function chainOf(first: v.GenericSchema): v.GenericSchema {
  let part = first
  for (let at = 0; at < 30; at++) part = v.object({ x: part, y: part })
  return part
}

function wide(last: v.GenericSchema): v.GenericSchema {
  const fields = Array.from({ length: 3_000 }, (_, at) => [`f${at}`, v.pipe(v.string(), v.trim(), v.maxLength(9))])
  return v.object({ ...(Object.fromEntries(fields) as v.ObjectEntries), last })
}

const endless = (): v.GenericSchema => v.object({ one: v.lazy(endless), other: v.lazy(endless) })

describe('two methods have different contracts', () => {
  const some = z.object({ a: z.string() })
  const more = z.object({ a: z.string(), b: z.string() })
  const someOf = v.object({ a: v.string() })
  const pairs: Record<string, [Schema, Schema]> = {
    'fields of an object': [some, more],
    'values of a map': [z.map(z.string(), some), z.map(z.string(), more)],
    'a part of a web of maps': [web(6), web(6, { note: z.string() })],
    'a part at the end of a chain of maps': [chain(14), chain(14, { note: z.string() })],
    'values of a set within an object': [z.object({ all: z.set(some) }), z.object({ all: z.set(more) })],
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
    'Valibot: a part that is used again and again': [chainOf(v.string()), chainOf(v.number())],
    'Valibot: a check of a lazy part': [
      v.pipe(
        v.lazy(() => v.string()),
        v.minLength(3),
      ),
      v.pipe(
        v.lazy(() => v.string()),
        v.minLength(4),
      ),
    ],
    'Valibot: the last of very many fields': [wide(v.string()), wide(v.number())],
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
    'maps of parts that refer to each other': [web(6), web(6)],
    'maps of the same part, again and again': [chain(14), chain(14)],
    'maps of new parts without end': [tree(), tree()],
    'a default that a function makes': [
      z.object({ id: z.string().default(() => randomUUID()) }),
      z.object({ id: z.string().default(() => randomUUID()) }),
    ],
    'Valibot: order of fields': [
      v.object({ a: v.string(), b: v.pipe(v.string(), v.email()) }),
      v.object({ b: v.pipe(v.string(), v.email()), a: v.string() }),
    ],
    'Valibot: texts for people': [
      v.pipe(v.string(), v.maxLength(3)),
      v.pipe(v.string(), v.maxLength(3, 'is too long'), v.title('A'), v.description('b')),
    ],
    'Valibot: only texts for people': [v.string(), v.pipe(v.string(), v.title('A'), v.metadata({ a: 1 }))],
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
