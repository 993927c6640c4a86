import assert from 'node:assert/strict'
import { it } from 'node:test'
import { BusbarError } from '../../src/contract/errors.ts'

it('an error of any copy of the package is recognised by its code, and no other value of a code is', () => {
  const withCode = (code: unknown): Error => Object.assign(new Error('why'), { name: 'BusbarError', code })
  assert.equal(BusbarError.is(withCode('INTERNAL')), true)
  const others = [undefined, 'MINE', 'toString', ['INTERNAL'], Object.create(null), Symbol('INTERNAL')]
  for (const code of others) assert.equal(BusbarError.is(withCode(code)), false)
})
