import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scope, type as ark } from 'arktype'
import * as Type from 'typebox'
import { Compile } from 'typebox/compile'
import * as v from 'valibot'
import * as z from 'zod'
import { client, safe } from '../../src/contract/client-entry.ts'
import { BusbarError, error, fn, service, type, type Schema } from '../../src/contract/index.ts'

/** As in docs/reference/contract.md. */
function typebox(schema: Type.TSchema, withJsonSchema = true): Schema {
  const compiled = Compile(schema)
  const validate = (value: unknown): unknown =>
    compiled.Check(value) ? { value } : { issues: compiled.Errors(value).map(({ message }) => ({ message })) }
  const jsonSchema = withJsonSchema && { input: () => schema, output: () => schema }
  return { '~standard': { version: 1, vendor: 'typebox', validate, jsonSchema } } as unknown as Schema
}

const secret = { hash: 'secret' }
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** The output of a service that returns `value`, and of one that fails with it. */
async function outputsOf(schema: unknown, value: unknown): Promise<unknown[]> {
  const users = service('users', {
    get: fn({ output: schema as Schema }),
    fail: fn({ errors: { IS_GONE: schema as Schema, HELD: error(423, schema as Schema) } }),
    held: fn({ errors: { HELD: error(423, schema as Schema) } }),
  })
  const before = structuredClone(value)
  const implementation = users.implement({
    get: () => value,
    fail: (_, { fail }) => fail('IS_GONE', value),
    held: (_, { fail }) => fail('HELD', value),
  })
  const calls = client(users, implementation, { clone: false, log: quiet })
  const outcomes = [await calls.get(), (await safe(calls.fail()))[0]?.data, (await safe(calls.held()))[0]?.data]
  assert.deepStrictEqual(value, before, 'what the service keeps has not changed')
  return outcomes
}

const Tree = scope({ Tree: { name: 'string', 'parts?': 'Tree[]' } }).export().Tree
const date = new Date(0)

/** By shape: schemas of it, what a service returns, and what leaves it. */
const cases: Record<string, [schemas: Record<string, unknown>, returned: unknown, out: unknown]> = {
  'an object': [
    {
      zod: z.object({ name: z.string() }),
      valibot: v.object({ name: v.string() }),
      arktype: ark({ name: 'string' }),
      typebox: typebox(Type.Object({ name: Type.String() })),
    },
    { name: 'Ada', ...secret },
    { name: 'Ada' },
  ],
  'objects in lists in objects': [
    {
      zod: z.object({ users: z.array(z.object({ name: z.string() })) }),
      valibot: v.object({ users: v.array(v.object({ name: v.string() })) }),
      arktype: ark({ users: ark({ name: 'string' }).array() }),
      typebox: typebox(Type.Object({ users: Type.Array(Type.Object({ name: Type.String() })) })),
    },
    { users: [{ name: 'Ada', ...secret }, { name: 'Bob' }] },
    { users: [{ name: 'Ada' }, { name: 'Bob' }] },
  ],
  'values of a record': [
    {
      zod: z.record(z.string(), z.object({ name: z.string() })),
      arktype: ark({ '[string]': ark({ name: 'string' }) }),
      typebox: typebox(Type.Record(Type.String(), Type.Object({ name: Type.String() }))),
    },
    { a: { name: 'Ada', ...secret } },
    { a: { name: 'Ada' } },
  ],
  'a tuple': [
    {
      zod: z.tuple([z.object({ name: z.string() }), z.number()]),
      arktype: ark([{ name: 'string' }, 'number']),
      typebox: typebox(Type.Tuple([Type.Object({ name: Type.String() }), Type.Number()])),
    },
    [{ name: 'Ada', ...secret }, 1],
    [{ name: 'Ada' }, 1],
  ],
  'an object, or nothing, a date or a list': [
    {
      arktype: ark({ name: 'string' }).or('undefined').or('Date').or('null').or('bigint').or('string[]'),
      typebox: typebox(
        Type.Union([Type.Object({ name: Type.String() }), Type.Undefined(), Type.Null(), Type.Array(Type.String())]),
      ),
    },
    { name: 'Ada', ...secret },
    { name: 'Ada' },
  ],
  'alternatives that a field distinguishes': [
    {
      zod: z.union([
        z.object({ kind: z.literal('a'), a: z.string() }),
        z.object({ kind: z.enum(['b', 'c']), b: z.string() }),
      ]),
      arktype: ark({ kind: "'a'", a: 'string' }).or({ kind: "'b' | 'c'", b: 'string' }),
      typebox: typebox(
        Type.Union([
          Type.Object({ kind: Type.Literal('a'), a: Type.String() }),
          Type.Object({ kind: Type.Union([Type.Literal('b'), Type.Literal('c')]), b: Type.String() }),
        ]),
      ),
    },
    { kind: 'c', b: 'x', a: 'secret', ...secret },
    { kind: 'c', b: 'x' },
  ],
  'alternatives that the type of a field distinguishes': [
    {
      arktype: ark({ at: 'Date', a: 'string' }).or({ at: 'number', b: 'string' }),
      typebox: typebox(
        Type.Union([
          Type.Object({ at: Type.Number(), b: Type.String() }),
          Type.Object({ at: Type.String(), a: Type.String() }),
        ]),
      ),
    },
    { at: 1, b: 'x', a: 'secret' },
    { at: 1, b: 'x' },
  ],
  'an intersection': [
    {
      zod: z.intersection(z.object({ a: z.string() }), z.object({ b: z.object({ c: z.string() }) })),
      arktype: ark({ a: 'string' }).and({ b: { c: 'string' } }),
      typebox: typebox(
        Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Object({ c: Type.String() }) })]),
      ),
    },
    { a: '', b: { c: '', ...secret }, ...secret },
    { a: '', b: { c: '' } },
  ],
  'a recursive object': [
    {
      arktype: Tree,
      typebox: typebox(
        Type.Cyclic(
          { Tree: Type.Object({ name: Type.String(), parts: Type.Optional(Type.Array(Type.Ref('Tree'))) }) },
          'Tree',
        ),
      ),
    },
    { name: 'a', parts: [{ name: 'b', ...secret, parts: [{ name: 'c', ...secret }] }] },
    { name: 'a', parts: [{ name: 'b', parts: [{ name: 'c' }] }] },
  ],
  'an object that its schema declares open': [
    {
      zod: z.looseObject({ name: z.string() }),
      valibot: v.looseObject({ name: v.string() }),
      arktype: ark({ name: 'string', '[string]': 'unknown' }),
      typebox: typebox(Type.Object({ name: Type.String() }, { additionalProperties: true })),
      'a type': type<unknown>(),
    },
    { name: 'Ada', more: { date } },
    { name: 'Ada', more: { date } },
  ],
  'what JSON cannot express': [
    {
      arktype: ark({ date: 'Date', map: 'Map', bytes: ark.instanceOf(Uint8Array), big: 'bigint' }),
    },
    { date, map: new Map([['a', { b: 1 }]]), bytes: new Uint8Array(2), big: 1n, ...secret },
    { date, map: new Map([['a', { b: 1 }]]), bytes: new Uint8Array(2), big: 1n },
  ],
}

describe('only declared fields leave a service', () => {
  for (const [what, [schemas, returned, out]] of Object.entries(cases))
    for (const [library, schema] of Object.entries(schemas))
      it(`of ${what}: ${library}`, async () => {
        assert.deepStrictEqual(await outputsOf(schema, returned), [out, out, out])
      })

  it('but an input keeps what its schema keeps', async () => {
    const users = service('users', { put: fn({ input: ark({ name: 'string' }), output: type<unknown>() }) })
    const calls = client(users, users.implement({ put: (input) => input }))
    assert.deepEqual(await calls.put({ name: 'Ada', ...secret }), { name: 'Ada', ...secret })
  })

  it('and a schema that refuses other fields still refuses them', async () => {
    const closed = [
      ark({ name: 'string', '+': 'reject' }),
      typebox(Type.Object({ name: Type.String() }, { additionalProperties: false })),
      z.strictObject({ name: z.string() }),
    ]
    for (const schema of closed) {
      const users = service('users', { get: fn({ output: schema }) })
      const calls = client(users, users.implement({ get: () => ({ name: 'Ada', ...secret }) }), { log: quiet })
      assert.equal((await safe(calls.get()))[0]?.code, 'INTERNAL')
    }
  })
})

describe('a contract is refused', () => {
  const unclear: Record<string, [schema: unknown, reason: RegExp]> = {
    'of ArkType with alternatives that nothing distinguishes': [
      ark({ user: ark({ a: 'number' }).or({ b: 'string' }) }),
      /a union of objects that no field distinguishes at `user`: arktype would not remove undeclared fields/,
    ],
    'of TypeBox with alternatives that nothing distinguishes': [
      typebox(Type.Union([Type.Object({ a: Type.Number() }), Type.Object({ b: Type.String() })])),
      /a union of objects that no field distinguishes: typebox would/,
    ],
    'of ArkType with other items at the end of a list': [
      ark(['...', ark({ a: 'string' }).array(), 'number']),
      /at its end/,
    ],
    'of TypeBox without JSON Schema': [typebox(Type.Object({ a: Type.String() }), false), /JSON Schema/],
    'with conditional fields': [
      typebox({ type: 'object', if: {}, else: { properties: { a: {} } } }),
      /declares fields by `if`/,
    ],
  }
  for (const [what, [schema, reason]] of Object.entries(unclear))
    it(`with an output schema ${what}`, () => {
      const makers = [
        () => fn({ output: schema as Schema }),
        () => fn({ errors: { IS_GONE: schema as Schema } }),
        () => error(410, schema as Schema),
      ]
      for (const make of makers)
        assert.throws(make, (thrown) => BusbarError.is(thrown, 'CONTRACT_INVALID') && reason.test(thrown.message))
      assert.ok(fn({ input: schema as Schema }), 'an input may be so')
    })
})

describe('a value that a validator of fields accepts as an object', () => {
  const users = service('users', { get: fn({ output: ark({ 'name?': 'string' }) as unknown as Schema }) })

  for (const value of [[secret], new Set([secret]), new Map([['all', secret]])])
    it(`does not leave the service: ${value.constructor.name}`, async () => {
      const calls = client(users, users.implement({ get: () => value as never }), { clone: false, log: quiet })
      await assert.rejects(calls.get(), { code: 'INTERNAL' })
    })
})
