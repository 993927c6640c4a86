import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Distribution } from '../../src/engine/job.ts'
import { merge } from '../../src/stats/histogram.ts'

/** In the engine's format: buckets by their upper edge. */
function distribution(buckets: [number, number][]): Distribution {
  const count = buckets.reduce((sum, [, each]) => sum + each, 0)
  const mean = buckets.reduce((sum, [edge, each]) => sum + edge * each, 0) / count
  return { count, mean, stdev: 0, min: 0, p50: 0, p75: 0, p90: 0, p99: 0, p999: 0, max: 0, buckets }
}

test('percentiles of several slices are those of all requests, not means of percentiles', () => {
  const fast = distribution([[1, 9900]])
  const slow = distribution([[100, 100]])
  const merged = merge([fast, slow])!
  assert.deepEqual([merged.p50, merged.p90, merged.p99, merged.p999, merged.max], [1, 1, 1, 100, 100])
  assert.ok(Math.abs(merged.mean - 1.99) < 1e-9)
  assert.ok(Math.abs(merged.stdev - Math.sqrt(0.99 * 0.99 ** 2 + 0.01 * 98.01 ** 2)) < 1e-9)
})

test('buckets with equal edges are merged, in order', () => {
  const buckets = merge([
    distribution([
      [2, 1],
      [5, 1],
    ]),
    distribution([
      [1, 3],
      [2, 2],
    ]),
  ])!.buckets
  assert.deepEqual(buckets, [
    [1, 3],
    [2, 3],
    [5, 1],
  ])
})

test('an empty merge is null, not zero', () => {
  assert.equal(merge([]), null)
  assert.equal(merge([distribution([])]), null)
})
