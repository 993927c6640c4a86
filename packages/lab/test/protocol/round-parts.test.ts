import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tick } from '../../src/engine/job.ts'
import { assignCpus } from '../../src/machine/cpu-assignment.ts'
import { randomOfRound, shuffled } from '../../src/protocol/plan.ts'
import { isSteady } from '../../src/protocol/warming.ts'

const ticks = (rates: readonly number[]): Tick[] =>
  rates.map((done, at) => ({ type: 'tick', at: at / 10, done, failed: 0, bytes: 0, p50: 1, p99: 1, max: 1 }))
const tenths = (rate: number, count = 20) => Array.from({ length: count }, () => rate)

test('a load is steady if the rates of its last two windows of two seconds are within 5 %', () => {
  assert.equal(isSteady(ticks([...tenths(100), ...tenths(103)])), true)
  assert.equal(isSteady(ticks([...tenths(100), ...tenths(110)])), false)
  assert.equal(isSteady(ticks([...tenths(110), ...tenths(100)])), false)
  assert.equal(isSteady(ticks(tenths(100, 39))), false)
  // Earlier windows do not matter.
  assert.equal(isSteady(ticks([...tenths(10), ...tenths(100), ...tenths(100)])), true)
})

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
