import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketCount, bucketOf, quantile, upperBound } from '../../src/shared/metrics/latency-buckets.ts'

test('every duration is within the bounds of its bucket', () => {
  for (let value = 1; value < 2 ** 27; value = Math.ceil(value * 1.01)) {
    const bucket = bucketOf(value)
    const lower = bucket === 0 ? 0 : upperBound(bucket - 1)
    assert.ok(value > lower && value <= upperBound(bucket), `${value} in (${lower}, ${upperBound(bucket)}]`)
  }
})

test('bounds grow by at most a quarter after the first microseconds, and end at 67 s', () => {
  for (let bucket = 4; bucket < bucketCount - 1; bucket++)
    assert.ok(upperBound(bucket) <= upperBound(bucket - 1) * 1.25, `bucket ${bucket}`)
  assert.equal(upperBound(bucketCount - 2), 2 ** 26)
  assert.equal(upperBound(bucketCount - 1), Infinity)
  assert.equal(bucketOf(2 ** 26), bucketCount - 2)
  assert.equal(bucketOf(2 ** 26 + 1), bucketCount - 1)
})

test('every power of two is a bound, so that coarser buckets are exact', () => {
  const bounds = new Set(Array.from({ length: bucketCount }, (_, bucket) => upperBound(bucket)))
  for (let power = 0; power <= 26; power++) assert.ok(bounds.has(2 ** power), `${2 ** power}`)
})

test('a quantile is the bound that this share did not exceed', () => {
  const counts = new Uint32Array(bucketCount)
  for (let value = 1; value <= 1000; value++) counts[bucketOf(value)]!++
  for (const share of [0.5, 0.9, 0.99]) {
    const found = quantile(counts, share)
    assert.ok(found >= share * 1000 && found <= share * 1000 * 1.25, `${share}: ${found}`)
  }
  assert.equal(quantile(new Uint32Array(bucketCount), 0.5), 0)
})
