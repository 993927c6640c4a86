import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { parseQuery, readText } from '../../src/contract/http/text-fields.ts'
import { checkOf } from '../../src/contract/schema.ts'

const check = checkOf(
  z.object({
    text: z.string().optional(),
    number: z.int().optional(),
    flag: z.boolean().optional(),
    words: z.array(z.string()).optional(),
    numbers: z.array(z.int()).optional(),
    point: z.object({ x: z.int() }).optional(),
  }),
)!

describe('fields of a query', () => {
  const cases: Record<string, object> = {
    'text=7': { text: '7' },
    'number=7&flag=true': { number: 7, flag: true },
    'words=7': { words: ['7'] },
    'words=a&words=b': { words: ['a', 'b'] },
    'numbers=7': { numbers: [7] },
    'numbers=7&numbers=8': { numbers: [7, 8] },
    'numbers=[7,8]': { numbers: [7, 8] },
    'point={"x":1}': { point: { x: 1 } },
  }
  for (const [query, expected] of Object.entries(cases))
    it(`are what the schema takes: ${query}`, async () => {
      const fields = parseQuery(query)
      assert.deepEqual(await readText(check, fields, new Set(Object.keys(fields))), expected)
    })

  it('are told for their own faults, and not for those of others', async () => {
    const fields = parseQuery('number=7&flag=perhaps')
    const { issues } = await check(await readText(check, fields, new Set(Object.keys(fields))))
    assert.deepEqual(
      issues?.map(({ path }) => path),
      [['flag']],
    )
  })
})
