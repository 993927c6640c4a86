import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { InstanceTable, type InstancesShape } from '../../src/shared/instances.ts'
import { others, outside } from '../../src/shared/latency-table.ts'
import { bucketOf } from '../../src/shared/latency.ts'

const shape: InstancesShape = { rows: 3, services: [{ name: 'web' }, { name: 'cart' }] }

test('what a worker writes of one service is seen by others, and of no other service or row', () => {
  const written = new InstanceTable(shape)
  const read = new InstanceTable(shape, written.memory)
  const cart = written.at(1, 'cart')
  cart.state = 'serving'
  cart.began()
  cart.began()
  cart.left(true)
  cart.countShed()
  cart.addWaiting(1)
  const seen = read.at(1, 'cart')
  assert.deepEqual(
    [seen.state, seen.inFlight, seen.calls, seen.failures, seen.shed, seen.waiting],
    ['serving', 1, 2, 1, 1, 1],
  )
  for (const [row, service] of [
    [0, 'cart'],
    [1, 'web'],
    [2, 'cart'],
  ] as const) {
    const other = read.at(row, service)
    assert.deepEqual([other.state, other.inFlight, other.calls, other.waiting], ['absent', 0, 0, 0])
  }
  written.clear(1)
  assert.deepEqual([seen.state, seen.calls], ['absent', 0])
})

test('it is written in another thread and read here while that thread is blocked', async () => {
  const table = new InstanceTable(shape)
  const url = JSON.stringify(new URL('../../src/shared/instances.ts', import.meta.url))
  const code = `import(${url}).then(({ InstanceTable }) => {
    const { parentPort, workerData: { shape, memory } } = require('node:worker_threads')
    const table = new InstanceTable(shape, memory)
    table.at(2, 'web').began()
    table.latencies(2).of('web', 'cart').add(1.5)
    parentPort.postMessage('written')
    for (;;);
  })`
  const worker = new Worker(code, { eval: true, workerData: { shape, memory: table.memory } })
  await once(worker, 'message')
  assert.equal(table.at(2, 'web').calls, 1)
  assert.deepEqual(
    table
      .latencies(2)
      .read()
      .map(({ caller, callee, counts }) => [caller, callee, counts[bucketOf(1500)]]),
    [['web', 'cart', 1]],
  )
  await worker.terminate()
})

test('latencies are kept by caller and callee; a weight counts for as many', () => {
  const latencies = new InstanceTable(shape).latencies(0)
  latencies.of('web', 'cart').add(0.25)
  latencies.of('web', 'cart').add(0.25, 8)
  latencies.of(outside, 'web').add(2000)
  const read = latencies.read().map(({ caller, callee, sum, counts }) => [caller, callee, sum, total(counts)])
  assert.deepEqual(read, [
    ['web', 'cart', 2, 9],
    [outside, 'web', 2000, 1],
  ])
})

test('pairs beyond the limit are counted together', () => {
  const services = Array.from({ length: 20 }, (_, index) => ({ name: `s${index}` }))
  const latencies = new InstanceTable({ rows: 1, services }).latencies(0)
  for (const caller of services) for (const callee of services) latencies.of(caller.name, callee.name).add(1)
  const read = latencies.read()
  assert.ok(read.length < 100)
  assert.equal(read.at(-1)!.caller, others)
  assert.equal(
    read.reduce((sum, { counts }) => sum + total(counts), 0),
    400,
  )
})

test('a copied block reads like the one that was written', () => {
  const process = new InstanceTable({ ...shape, rows: 1 })
  process.at(0, 'cart').began()
  process.latencies(0).of('cart', 'web').add(3)
  const kept = new InstanceTable(shape)
  kept.block(2).set(process.block(0))
  assert.equal(kept.at(2, 'cart').calls, 1)
  assert.equal(kept.latencies(2).read()[0]!.callee, 'web')
})

function total(counts: Uint32Array): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
