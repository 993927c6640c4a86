import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { Pulse } from '../../src/supervisor/pulse.ts'

test('jobs whose intervals are multiples of each other run in the same tick', async () => {
  const pulse = new Pulse()
  let isTick = false
  const together: boolean[] = []
  const stops = [
    pulse.every(20, () => {
      isTick = true
      // Two timers that are due at the same time have a microtask checkpoint in between.
      queueMicrotask(() => (isTick = false))
    }),
    pulse.every(60, () => together.push(isTick)),
  ]
  while (together.length < 3) await sleep(5)
  for (const stop of stops) stop()
  assert.deepEqual(together, [true, true, true])
})

test('a job that is removed does not run any more, and the others do', async () => {
  const pulse = new Pulse()
  let removed = 0
  let kept = 0
  const remove = pulse.every(5, () => removed++)
  const stop = pulse.every(10, () => kept++)
  while (removed === 0) await sleep(1)
  remove()
  const before = removed
  kept = 0
  while (kept < 3) await sleep(1)
  stop()
  assert.equal(removed, before)
})

test('a job that is added with a shorter interval than the others runs at its own', async () => {
  const pulse = new Pulse()
  let long = 0
  const stopLong = pulse.every(100_000, () => long++)
  const short = Promise.withResolvers<void>()
  const stop = pulse.every(5, short.resolve)
  await short.promise
  stop()
  stopLong()
  assert.equal(long, 0)
})
