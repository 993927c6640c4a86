import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type as ark } from 'arktype'
import * as Type from 'typebox'
import { Compile } from 'typebox/compile'
import * as v from 'valibot'
import * as z from 'zod'
import { client, safe } from '../../src/contract/client-entry.ts'
import { fn, service, type Schema } from '../../src/contract/index.ts'

interface Item {
  id: number
  name: string
}

/** TypeBox has no Standard Schema of its own: this is the recipe of docs/reference/contract.md. */
function typebox<T extends Type.TSchema>(schema: T): Schema<Type.Static<T>> {
  const compiled = Compile(schema)
  const validate = (value: unknown): ReturnType<Schema<Type.Static<T>>['~standard']['validate']> =>
    compiled.Check(value)
      ? { value }
      : {
          issues: compiled
            .Errors(value)
            .map(({ instancePath, message }) => ({ message, path: instancePath.split('/').slice(1) })),
        }
  const jsonSchema = { input: () => schema, output: () => schema }
  return { '~standard': { version: 1, vendor: 'typebox', validate, jsonSchema } } as Schema<Type.Static<T>>
}

const libraries: Record<string, Schema<Item>> = {
  zod: z.object({ id: z.int(), name: z.string() }),
  valibot: v.object({ id: v.pipe(v.number(), v.integer()), name: v.string() }),
  arktype: ark({ id: 'number.integer', name: 'string' }),
  typebox: typebox(Type.Object({ id: Type.Integer(), name: Type.String() })),
}

describe('schemas of every library', () => {
  for (const [name, schema] of Object.entries(libraries))
    it(`are used in the same way: ${name}`, async () => {
      const items = service('items', { put: fn({ input: schema, output: schema }) })
      const calls = client(items, items.implement({ put: (item) => item }))
      assert.deepEqual(await calls.put({ id: 1, name: 'lamp' }), { id: 1, name: 'lamp' })
      const [error] = await safe(calls.put({ id: 1, name: 7 } as never))
      assert.equal(error?.code, 'INPUT_INVALID')
      if (error?.code === 'INPUT_INVALID')
        assert.deepEqual(
          error.data.issues.map(({ path }) => path),
          [['name']],
        )
    })

  it('may be asynchronous', async () => {
    const slow = z.object({ id: z.int() }).refine(async ({ id }) => Promise.resolve(id > 0))
    const items = service('items', { get: fn({ input: slow, output: z.int() }) })
    const calls = client(items, items.implement({ get: ({ id }) => id }))
    assert.equal(await calls.get({ id: 1 }), 1)
    assert.equal((await safe(calls.get({ id: 0 })))[0]?.code, 'INPUT_INVALID')
  })
})
