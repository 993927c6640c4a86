import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ErrorRecord } from '../../../src/contract/errors.ts'
import { fromRecord } from '../../../src/mesh/http/wire.ts'

it('an error of another app becomes one of this one, whatever it has in it', () => {
  const records = [
    { code: 'FROM_LATER', message: 'why' },
    { code: 'toString', message: 'why' },
    { code: 'INTERNAL', message: 'why', data: { name: 'Error', message: { toString: 1 }, code: 'E' } },
    { code: 'INTERNAL', message: 'why', data: { name: { toString: 1 }, message: 'other', code: 'E' } },
  ]
  for (const record of records) {
    const error = fromRecord(record as unknown as ErrorRecord)
    assert.deepEqual([error.message, 'code' in error && error.code], ['why', 'INTERNAL'])
  }
})
