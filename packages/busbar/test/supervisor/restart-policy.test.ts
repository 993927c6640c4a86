import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RestartPolicy } from '../../src/supervisor/restart-policy.ts'
import { defaultTiming } from '../../src/supervisor/timing.ts'

test('the first restart is at once, further ones wait twice as long each, up to a cap, without end', () => {
  const policy = new RestartPolicy({ backoff: 100, backoffMax: 300, stable: 1000 })
  assert.equal(policy.failed(500), 0)
  for (const [index, full] of [100, 200, ...Array<number>(50).fill(300)].entries()) {
    const wait = policy.failed(index === 0 ? 0 : 999)
    assert.ok(wait >= full * 0.8 && wait <= full, `${wait} of ${full}`)
  }
  assert.equal(policy.failures, 53)
})

test('a long success and a restart on request reset the series', () => {
  const policy = new RestartPolicy({ ...defaultTiming, stable: 1000 })
  assert.deepEqual([policy.failed(0), policy.failed(1000)], [0, 0])
  assert.notEqual(policy.failed(999), 0)
  policy.reset()
  assert.equal(policy.failed(0), 0)
})

test('by default, restarts are at most 30 s apart', () => {
  const policy = new RestartPolicy(defaultTiming)
  const waits = Array.from({ length: 100 }, () => policy.failed(0))
  assert.ok(Math.max(...waits) <= 30_000)
  assert.ok(waits.at(-1)! >= 24_000)
})
