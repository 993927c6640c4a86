import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdP99 } from '../src/rates/hold-p99.ts'
import type { Probe } from '../src/rates/probe.ts'

function probeOf(rate: number, p99: number, change: Partial<Probe> = {}): Probe {
  const times = { p50: p99 / 4, p99, max: p99 * 2 }
  return {
    rate,
    perSecond: rate,
    count: rate,
    min: p99 / 8,
    mean: p99 / 3,
    ...times,
    percentiles: {},
    histogram: [],
    failed: 0,
    firstProblem: null,
    statuses: {},
    missed: 0,
    generatorLate: 0,
    ...change,
  }
}

/** Latency of a queue: it grows without limit near the capacity. */
const queue = (rate: number): Probe => probeOf(rate, 2 / Math.max(1 - rate / 1000, 0.001))

test('the search finds the highest rate that holds, within 5 %', async () => {
  const { rate, confirmedBy, failedAt } = await holdP99(10, 1000, async (asked) => queue(asked))
  // 2 / (1 - 0.8) is 10.
  assert.ok(rate! <= 800 && rate! >= 760, `${rate}`)
  assert.equal(confirmedBy.length, 3)
  assert.ok(failedAt!.rate > rate!)
  assert.match(failedAt!.why, /p99 was 1\d\.\d ms/)
})

test('one disturbed probe does not lower the answer', async () => {
  let asked = 0
  const { rate } = await holdP99(10, 1000, async (now) => (++asked === 3 ? probeOf(now, 500) : queue(now)))
  assert.ok(rate! >= 760, `${rate}`)
})

test('a rate that holds only once is lowered', async () => {
  const seen = new Map<number, number>()
  const { rate } = await holdP99(10, 1000, async (now) => {
    const times = (seen.get(now) ?? 0) + 1
    seen.set(now, times)
    return now > 500 && times > 1 ? probeOf(now, 100) : queue(now)
  })
  assert.ok(rate! <= 520, `${rate}`)
})

test('wrong answers and unanswered requests do not hold', async () => {
  const failing = await holdP99(10, 100, async (now) => probeOf(now, 1, { failed: 1, firstProblem: 'status 500' }))
  assert.deepEqual([failing.rate, failing.failedAt?.why], [null, 'status 500'])
  const missing = await holdP99(10, 100, async (now) => probeOf(now, 1, { missed: 0.2 }))
  assert.match(missing.failedAt!.why, /20\.0 % of the requests were not answered/)
})
