import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { threadsNow } from '../../../src/shared/metrics/worker-cells.ts'
import { slotCells, ConcurrencySlots } from '../../../src/shared/calls/concurrency-slots.ts'
import { AbandonedCalls } from '../../../src/supervisor/watchdogs/abandoned-calls.ts'

const call = { link: 3, number: 5 }
const abandoned = { type: 'callAbandoned', peer: 9, service: 'compute', call } as const
const shape = { rows: 2, concurrency: 1 }

/** A thread with its last heartbeat at `heartbeat`, whose instance is in row 1. */
const thread = (heartbeat: number) => ({ worker: 9, row: 1, age: (now: number) => now - heartbeat })

function setUp() {
  const slots = new ConcurrencySlots(shape, new Int32Array(slotCells(shape)))
  const calls = new AbandonedCalls()
  const before = threadsNow()
  calls.add(abandoned)
  return { slots, calls, before, now: threadsNow() }
}

describe('an abandoned call', () => {
  it('is overdue while its thread computes it', () => {
    const { slots, calls, before, now } = setUp()
    slots.setInside(1, 0, call)
    for (const passed of [10, 500, 60_000]) {
      const by = calls.overdue(thread(before), 'compute', slots, now + passed)
      assert.ok(by >= passed && by <= passed + now - before, `${by} after ${passed}`)
    }
    slots.setInside(1, 0, undefined)
    assert.equal(calls.overdue(thread(before), 'compute', slots, now + 60_000), 0)
  })

  it('does not count for another call, another service or another worker', () => {
    const { slots, calls, before, now } = setUp()
    slots.setInside(1, 0, { ...call, number: 4 })
    assert.equal(calls.overdue(thread(before), 'compute', slots, now + 500), 0)
    slots.setInside(1, 0, call)
    assert.equal(calls.overdue(thread(before), 'other', slots, now + 500), 0)
    assert.equal(calls.overdue({ ...thread(before), worker: 8 }, 'compute', slots, now + 500), 0)
    assert.notEqual(calls.overdue(thread(before), 'compute', slots, now + 500), 0)
  })

  it('is remembered until its thread must have read the cancel', () => {
    const { slots, calls, now } = setUp()
    // One heartbeat: the thread may have read the call before the cancel.
    assert.equal(calls.overdue(thread(now + 100), 'compute', slots, now + 100), 0)
    slots.setInside(1, 0, call)
    assert.notEqual(calls.overdue(thread(now + 100), 'compute', slots, now + 500), 0)
    slots.setInside(1, 0, undefined)
    assert.equal(calls.overdue(thread(now + 1000), 'compute', slots, now + 1000), 0)
    slots.setInside(1, 0, call)
    assert.equal(calls.overdue(thread(now + 1000), 'compute', slots, now + 2000), 0)
  })

  it('is forgotten when its worker has ended', () => {
    const { slots, calls, before, now } = setUp()
    slots.setInside(1, 0, call)
    calls.forget(9)
    assert.equal(calls.overdue(thread(before), 'compute', slots, now + 500), 0)
  })
})
