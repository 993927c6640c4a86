import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tick } from '../../src/engine/job.ts'
import { full, quick } from '../../src/protocol/plan.ts'
import { isSteady, warmUp } from '../../src/protocol/warming.ts'

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

/** Seconds of a warm-up at so many responses a second, and what it lacked. */
async function warmed(
  perSecond: (second: number) => number,
  timing = quick,
  calls = 1,
): Promise<[number, string | undefined]> {
  let seconds = 0
  const cold = await warmUp(
    async (milliseconds) => {
      const found = Array.from({ length: milliseconds / 100 }, (_, at) => perSecond(seconds + at / 10) / 10)
      seconds += milliseconds / 1000
      return ticks(found)
    },
    timing,
    calls,
  )
  return [seconds, cold]
}

test('a warm-up is longer if there were few responses, but for requests that are slow by themselves', async () => {
  assert.deepEqual(await warmed(() => 20_000), [2, undefined])
  assert.deepEqual(await warmed(() => 8000), [4, undefined])
  assert.deepEqual(await warmed(() => 2000), [10, 'few'])
  assert.deepEqual(await warmed(() => 250), [2, undefined])
})

test('a response counts for all the calls that its request has made', async () => {
  assert.deepEqual(await warmed(() => 250, quick, 64), [2, undefined])
  assert.deepEqual(await warmed(() => 150, quick, 64), [4, undefined])
  assert.deepEqual(await warmed(() => 30, quick, 64), [10, 'few'])
})

test('a full run waits for a steady rate, too', async () => {
  assert.deepEqual(await warmed(() => 20_000, full), [5, undefined])
  assert.deepEqual(await warmed((second) => (second < 4 ? 10_000 : 20_000), full), [9, undefined])
  assert.deepEqual(await warmed((second) => 10_000 * (second + 1), full), [15, 'unsteady'])
})
