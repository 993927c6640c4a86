import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createCells, threadsNow, WorkerCells } from '../../src/shared/metrics/worker-cells.ts'

test('a row shows what its worker wrote; other rows do not', () => {
  const memory = createCells(2)
  const [written, read, other] = [new WorkerCells(memory, 0), new WorkerCells(memory, 0), new WorkerCells(memory, 1)]
  written.countClosed()
  written.countClosed()
  written.addInFlight(1)
  written.beat(1000)
  assert.deepEqual([read.closed, read.inFlight, read.age(1500)], [2, 1, 500])
  assert.deepEqual([other.closed, other.inFlight], [0, 0])
  written.addInFlight(-1)
  assert.equal(read.inFlight, 0)
  written.clear()
  assert.deepEqual([read.closed, read.inFlight], [0, 0])
})

test('a heartbeat newer than the given time has age 0', () => {
  const cells = new WorkerCells(createCells(1), 0)
  cells.beat(1003)
  assert.equal(cells.age(1000), 0)
  cells.beat(2 ** 32 + 2)
  assert.equal(cells.age(2 ** 32 - 1), 0)
})

test('the age of a heartbeat is correct across the 32-bit wrap', () => {
  const cells = new WorkerCells(createCells(1), 0)
  cells.beat(2 ** 32 - 100)
  assert.equal(cells.age(2 ** 32 + 50), 150)
})

test('threads agree on the time', async () => {
  const url = JSON.stringify(new URL('../../src/shared/metrics/worker-cells.ts', import.meta.url))
  const code = `import(${url}).then(({ threadsNow }) => require('node:worker_threads').parentPort.postMessage(threadsNow()))`
  const before = threadsNow()
  const worker = new Worker(code, { eval: true })
  const [there] = await Promise.all([
    new Promise<number>((resolve) => worker.once('message', resolve)),
    new Promise((resolve) => worker.once('exit', resolve)),
  ])
  assert.ok(there >= before && there <= threadsNow())
})
