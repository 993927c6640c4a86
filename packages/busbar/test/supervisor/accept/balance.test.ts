import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pickWorker } from '../../../src/supervisor/accept/balance.ts'

let slots = 0
const candidate = (connections: number, age = 0) => ({ connections, age: () => age, spec: { index: slots++ } })

test('picks the worker with the fewest connections, in any order', () => {
  const [few, more, most] = [candidate(1), candidate(2), candidate(3)]
  for (const threads of [
    [few, more, most],
    [more, few, most],
    [most, more, few],
  ])
    for (let turn = 0; turn < 3; turn++) assert.equal(pickWorker(threads, 0, 100), few)
})

test('picks workers with equal counts in turns', () => {
  const threads = [candidate(1), candidate(1), candidate(1)]
  const picked = new Set([1, 2, 3].map(() => pickWorker(threads, 0, 100)))
  assert.equal(picked.size, 3)
})

test('picks a worker with a stale heartbeat only if all are stale', () => {
  const [stale, fresh] = [candidate(0, 100), candidate(50, 99)]
  for (let turn = 0; turn < 2; turn++) {
    assert.equal(pickWorker([stale, fresh], 0, 100), fresh)
    assert.equal(pickWorker([stale, candidate(1, 500)], 0, 100), stale)
  }
  assert.equal(pickWorker([], 0, 100), undefined)
})
