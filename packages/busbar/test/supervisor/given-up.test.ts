import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { threadsNow } from '../../src/shared/cells.ts'
import { slotCells, Slots } from '../../src/shared/slots.ts'
import { GivenUpCalls } from '../../src/supervisor/given-up.ts'

const call = { link: 3, number: 5 }
const gaveUp = { type: 'gaveUp', peer: 9, service: 'compute', call } as const
const shape = { rows: 2, concurrency: 1 }

/** A thread that last turned at `turned`, and whose instance is in row 1. */
const thread = (turned: number) => ({ worker: 9, row: 1, age: (now: number) => now - turned })

function setUp() {
  const slots = new Slots(shape, new Int32Array(slotCells(shape)))
  const calls = new GivenUpCalls()
  const before = threadsNow()
  calls.add(gaveUp)
  return { slots, calls, before, now: threadsNow() }
}

describe('a call that was given up', () => {
  it('is overdue as long as its thread is busy with it', () => {
    const { slots, calls, before, now } = setUp()
    slots.setInside(1, 0, call)
    for (const passed of [10, 500, 60_000]) {
      const by = calls.overdue(thread(before), 'compute', slots, now + passed)
      assert.ok(by >= passed && by <= passed + now - before, `${by} after ${passed}`)
    }
    slots.setInside(1, 0, undefined)
    assert.equal(calls.overdue(thread(before), 'compute', slots, now + 60_000), 0)
  })

  it('is none that another is computed before, of another service, or to another worker', () => {
    const { slots, calls, before, now } = setUp()
    slots.setInside(1, 0, { ...call, number: 4 })
    assert.equal(calls.overdue(thread(before), 'compute', slots, now + 500), 0)
    slots.setInside(1, 0, call)
    assert.equal(calls.overdue(thread(before), 'other', slots, now + 500), 0)
    assert.equal(calls.overdue({ ...thread(before), worker: 8 }, 'compute', slots, now + 500), 0)
    assert.notEqual(calls.overdue(thread(before), 'compute', slots, now + 500), 0)
  })

  it('is remembered until its thread must have heard of it', () => {
    const { slots, calls, now } = setUp()
    // It has turned once, and found the call before the cancel.
    assert.equal(calls.overdue(thread(now + 100), 'compute', slots, now + 100), 0)
    slots.setInside(1, 0, call)
    assert.notEqual(calls.overdue(thread(now + 100), 'compute', slots, now + 500), 0)
    slots.setInside(1, 0, undefined)
    assert.equal(calls.overdue(thread(now + 1000), 'compute', slots, now + 1000), 0)
    slots.setInside(1, 0, call)
    assert.equal(calls.overdue(thread(now + 1000), 'compute', slots, now + 2000), 0)
  })

  it('is nothing any more when its worker has ended', () => {
    const { slots, calls, before, now } = setUp()
    slots.setInside(1, 0, call)
    calls.forget(9)
    assert.equal(calls.overdue(thread(before), 'compute', slots, now + 500), 0)
  })
})
