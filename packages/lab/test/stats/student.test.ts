import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tQuantile, twoSidedP } from '../../src/stats/student.ts'

/**
 * From printed tables of the t distribution: two-sided confidence, degrees of freedom, quantile.
 */
const table: readonly [number, number, number][] = [
  [0.95, 1, 12.7062],
  [0.99, 1, 63.6567],
  [0.99, 2, 9.9248],
  [0.95, 5, 2.5706],
  [0.99, 5, 4.0321],
  [0.99, 11, 3.1058],
  [0.99, 29, 2.7564],
  [0.999, 10, 4.5869],
  [0.95, 1000, 1.9623],
]

test('quantiles match printed tables', () => {
  for (const [confidence, freedom, expected] of table) {
    const found = tQuantile(confidence, freedom)
    assert.ok(Math.abs(found - expected) < 1e-4, `t(${confidence}, ${freedom}) = ${found}, the table says ${expected}`)
  }
})

test('probability and quantile are inverse', () => {
  for (const [confidence, freedom] of table)
    assert.ok(Math.abs(twoSidedP(tQuantile(confidence, freedom), freedom) - (1 - confidence)) < 1e-9)
})

test('zero is exceeded with probability 1, infinity with 0', () => {
  assert.equal(twoSidedP(0, 7), 1)
  assert.equal(twoSidedP(Infinity, 7), 0)
})
