import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { kindOf } from '../../src/contract/http/mapping/field-kinds.ts'
import { parseQuery, readText } from '../../src/contract/http/mapping/text-fields.ts'
import { checkOf } from '../../src/contract/schema.ts'

const schema = z.object({
  text: z.string().optional(),
  number: z.int().max(100, 'too large').optional(),
  flag: z.boolean().optional(),
  words: z.array(z.string()).max(3).optional(),
  pair: z.array(z.string()).min(2, 'too few').optional(),
  numbers: z.array(z.int()).optional(),
  point: z.object({ x: z.int() }).optional(),
  key: z.uuid('no UUID').optional(),
})
const check = checkOf(schema)!

function read(query: string): object | Promise<object> {
  const fields = parseQuery(query)
  return readText(check, fields, new Set(Object.keys(fields)), (field) => kindOf(schema, field))
}

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
    it(`are read as the schema needs: ${query}`, async () => {
      assert.deepEqual(await read(query), expected)
    })

  it('get errors for their own issues, not for those of others', async () => {
    const { issues } = await check(await read('number=7&flag=perhaps'))
    assert.deepEqual(
      issues?.map(({ path }) => path),
      [['flag']],
    )
  })

  const faults = { 'number=101': 'too large', 'pair=a': 'too few', 'key=7': 'no UUID' }
  for (const [query, fault] of Object.entries(faults))
    it(`get the error for the value that was meant: ${query}`, async () => {
      const { issues } = await check(await read(query))
      assert.equal(issues?.[0]?.message, fault)
    })
})
