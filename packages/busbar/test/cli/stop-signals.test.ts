import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StopWishes } from '../../src/cli/stop-signals.ts'

test('signals within 250 ms of the first are the same wish, and the next one after that is a second', () => {
  const wishes = new StopWishes()
  assert.deepEqual(
    [1000, 1001, 1249, 1250, 5000].map((now) => wishes.hear(now)),
    ['stop', 'same', 'same', 'force', 'force'],
  )
})
