import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BegunCalls, newBegunCalls } from '../../src/shared/calls/begun-calls.ts'

test('each end of a link reads which of its calls the other has begun', () => {
  const [one, other] = newBegunCalls().map((access) => new BegunCalls(access)) as [BegunCalls, BegunCalls]
  assert.deepEqual([one.lastBegun(0), one.lastBegun(5)], [0, 0])
  other.begin(3)
  assert.deepEqual([one.lastBegun(5), other.lastBegun(5)], [3, 0])
  one.begin(4)
  assert.deepEqual([one.lastBegun(5), other.lastBegun(5)], [3, 4])
})

test('numbers of calls beyond 32 bits are told apart', () => {
  const [one, other] = newBegunCalls().map((access) => new BegunCalls(access)) as [BegunCalls, BegunCalls]
  for (const begun of [2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 7, 5 * 2 ** 32 - 3]) {
    other.begin(begun)
    for (const more of [0, 1, 10_000]) assert.equal(one.lastBegun(begun + more), begun)
  }
})
