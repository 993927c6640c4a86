import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TryLab } from '../../../busbar/src/cli/commands/try/lab.ts'
import * as lab from '../../src/index.ts'

// The assignment ties the types of both packages: the lab depends on Busbar, so Busbar cannot
// import those of the lab.
test('the lab has what `busbar try` calls', () => {
  const called: TryLab = lab
  assert.equal(typeof called.tryCommand, 'function')
  assert.equal(typeof called.readRequests, 'function')
})
