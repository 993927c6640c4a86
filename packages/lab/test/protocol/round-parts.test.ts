import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assignCpus } from '../../src/machine/cpu-assignment.ts'
import { randomOfRound, shuffled } from '../../src/protocol/plan.ts'

test('with four processors the load generator has its own, and the arms use the others', () => {
  assert.deepEqual(assignCpus('0-1'), { generator: undefined, launcher: [] })
  assert.deepEqual(assignCpus('0-3'), { generator: 3, launcher: ['taskset', '--cpu-list', '0,1,2'] })
  assert.deepEqual(assignCpus('0,2-3,8-9'), { generator: 9, launcher: ['taskset', '--cpu-list', '0,2,3,8'] })
})

test('the order of a round depends only on the seed and its number', () => {
  const cells = ['a', 'b', 'c', 'd', 'e', 'f']
  const order = (seed: number, round: number) => shuffled(cells, randomOfRound(seed, round)).join('')
  assert.equal(order(7, 4), order(7, 4))
  assert.ok(new Set(Array.from({ length: 20 }, (_, round) => order(7, round))).size > 15)
  assert.ok(new Set(Array.from({ length: 20 }, (_, seed) => order(seed, 0))).size > 15)
})
