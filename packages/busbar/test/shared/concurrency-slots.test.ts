import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { InstanceTable, type InstancesShape } from '../../src/shared/metrics/instance-table.ts'

const shape: InstancesShape = { rows: 3, services: [{ name: 'web' }, { name: 'render', concurrency: 2 }] }

test('an instance has as many slots as its concurrency, and each instance its own', () => {
  const table = new InstanceTable(shape)
  assert.equal(table.slots('web'), undefined)
  const slots = table.slots('render')!
  const first = slots.take(0, 2)!
  assert.notEqual(slots.take(0, 2), undefined)
  assert.equal(slots.take(0, 1), undefined)
  assert.notEqual(slots.take(1, 2), undefined)
  assert.deepEqual([slots.taken(0), slots.taken(1)], [2, 1])
  slots.release(first)
  assert.notEqual(slots.take(0, 1), undefined)
})

test('the slots of a worker that died are released, those of others are not', () => {
  const table = new InstanceTable(shape)
  const slots = table.slots('render')!
  slots.take(0, 1)
  slots.take(0, 2)
  table.clear(1)
  assert.equal(slots.taken(0), 1)
})

test('a release wakes a waiting caller, even if it comes just before the wait', async () => {
  const slots = new InstanceTable(shape).slots('render')!
  const slot = slots.take(0, 1)!
  const seen = slots.releases
  const woken = slots.released(seen, 60_000)
  slots.release(slot)
  await woken
  await slots.released(seen, 60_000)
})

test('two threads never hold more slots than there are', async () => {
  const table = new InstanceTable(shape)
  const url = JSON.stringify(new URL('../../src/shared/metrics/instance-table.ts', import.meta.url))
  const code = `import(${url}).then(({ InstanceTable }) => {
    const { parentPort, workerData: { shape, held, row } } = require('node:worker_threads')
    const slots = new InstanceTable(shape).slots('render')
    let most = 0
    for (let round = 0; round < 200_000; round++) {
      const slot = slots.take(0, row)
      if (slot === undefined) continue
      most = Math.max(most, Atomics.add(held, 0, 1) + 1)
      Atomics.sub(held, 0, 1)
      slots.release(slot)
    }
    parentPort.postMessage(most)
  })`
  const held = new Int32Array(new SharedArrayBuffer(4))
  const most = await Promise.all(
    [0, 1, 2].map(async (row) => {
      const worker = new Worker(code, { eval: true, workerData: { shape: table.shape, held, row } })
      const [[message]] = await Promise.all([once(worker, 'message') as Promise<[number]>, once(worker, 'exit')])
      return message
    }),
  )
  assert.ok(Math.max(...most) <= 2, most.join())
  assert.equal(table.slots('render')!.taken(0), 0)
})

test('an instance with a call is overdue from its deadline until it reports otherwise or ends', () => {
  const table = new InstanceTable(shape)
  const slots = table.slots('render')!
  assert.equal(slots.overdue(1, 5000), 0)
  for (const origin of [5000, 2 ** 31 - 50, 2 ** 32 - 50]) {
    slots.setDue(1, origin + 100)
    assert.deepEqual(
      [0, 100, 101, 180].map((passed) => slots.overdue(1, origin + passed)),
      [0, 0, 1, 80],
    )
    assert.equal(slots.overdue(0, origin + 180), 0)
    slots.setDue(1, undefined)
    assert.equal(slots.overdue(1, origin + 180), 0)
  }
  slots.setDue(1, 100)
  table.clear(1)
  assert.equal(slots.overdue(1, 200), 0)
})

test('a call that an instance has started is found by its link and number until either ends', () => {
  const table = new InstanceTable(shape)
  const slots = table.slots('render')!
  const [one, other] = [
    { link: 0, number: 1 },
    { link: 7, number: 2 ** 40 },
  ]
  slots.setInside(1, 0, one)
  slots.setInside(1, 1, other)
  assert.deepEqual(
    [one, other, { link: 7, number: 1 }, { link: undefined, number: 0 }].map((call) => slots.isInside(1, call)),
    [true, true, false, false],
  )
  assert.equal(slots.isInside(0, one), false)
  assert.equal(slots.isInside(2, one), false)
  slots.setInside(1, 0, undefined)
  assert.deepEqual(
    [one, other].map((call) => slots.isInside(1, call)),
    [false, true],
  )
  table.clear(1)
  assert.equal(slots.isInside(1, other), false)
})
