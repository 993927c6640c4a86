import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallQueue } from '../../src/shared/calls/call-queue.ts'
import { random } from './random.ts'

function queueOf(limit = 10): { queue: CallQueue<string>; expired: string[] } {
  const expired: string[] = []
  return { queue: new CallQueue<string>({ limit, expired: (item) => expired.push(item) }), expired }
}

test('first come, first served within a priority; a higher priority goes first', () => {
  const { queue } = queueOf()
  for (const [item, priority] of [
    ['a', 0],
    ['b', -1],
    ['c', 7],
    ['d', 0],
    ['e', 7],
  ] as const)
    queue.push(item, { priority })
  assert.deepEqual(
    Array.from({ length: 6 }, () => queue.shift()),
    ['c', 'e', 'a', 'd', 'b', undefined],
  )
})

test('a full queue refuses items until one has left', () => {
  const { queue } = queueOf(2)
  const first = queue.push('a')!
  queue.push('b')
  assert.equal(queue.push('c', { priority: 9 }), undefined)
  assert.equal(queue.remove(first), true)
  assert.equal(queue.remove(first), false)
  assert.notEqual(queue.push('d'), undefined)
  assert.deepEqual([queue.size, queue.shift(), queue.shift(), queue.size], [2, 'b', 'd', 0])
})

test('an item whose deadline has passed is reported, not returned', () => {
  const { queue, expired } = queueOf()
  for (const [item, deadline] of [
    ['a', 100],
    ['b', 101],
    ['c', undefined],
  ] as const)
    queue.push(item, { deadline })
  assert.equal(queue.shift(100), 'b')
  assert.deepEqual(expired, ['a'])
  assert.equal(queue.shift(1e9), 'c')
})

test('it behaves like a sorted list under random operations', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const next = random(seed)
    const { queue, expired } = queueOf(20)
    const model: { item: string; priority: number; deadline: number; ticket: object }[] = []
    const dead: string[] = []
    for (let step = 0; step < 300; step++) {
      const what = next(5)
      if (what < 2) {
        const [item, priority, deadline] = [`${step}`, next(4), step + next(100)]
        const ticket = queue.push(item, { priority, deadline })
        assert.equal(ticket === undefined, model.length === 20, `seed ${seed}`)
        if (ticket !== undefined) model.push({ item, priority, deadline, ticket })
      } else if (what === 2 && model.length > 0) {
        const [one] = model.splice(next(model.length), 1)
        assert.equal(queue.remove(one!.ticket as never), true)
      } else {
        const order = model.toSorted((one, other) => other.priority - one.priority)
        const found = order.find(({ deadline }) => deadline > step)
        for (const passed of order.slice(0, found === undefined ? order.length : order.indexOf(found) + 1)) {
          model.splice(model.indexOf(passed), 1)
          if (passed !== found) dead.push(passed.item)
        }
        assert.equal(queue.shift(step), found?.item, `seed ${seed}`)
      }
      assert.equal(queue.size, model.length)
    }
    assert.deepEqual(expired, dead)
  }
})
