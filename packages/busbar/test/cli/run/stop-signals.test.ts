import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StopRequests } from '../../../src/cli/stop-signals.ts'

test('signals within 250 ms of the first are the same request, and a later one is a second', () => {
  const requests = new StopRequests()
  assert.deepEqual(
    [1000, 1001, 1249, 1250, 5000].map((now) => requests.add(now)),
    ['stop', 'same', 'same', 'force', 'force'],
  )
})
