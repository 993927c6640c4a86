import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeCounts, ReportFile } from '../../src/shared/metrics/report-file.ts'
import { beatOf, createCells, WorkerCells } from '../../src/shared/metrics/worker-cells.ts'
import { ReportedRow } from '../../src/worker/reporting/reported-cells.ts'

test('a heartbeat writes the row of a process to the file that the supervisor reads', () => {
  const file = ReportFile.create()
  assert.equal(file.readRow(), undefined)
  const failures: string[] = []
  const row = new ReportedRow(createCells(1), file, () => failures.push('failed'))
  row.countClosed()
  row.vitals = { utilization: 0.5, heapUsed: 2048, memory: 4096, cpu: 7, delay: 1, gc: 2 }
  row.beat(1234)
  const read = new WorkerCells(createCells(1), 0)
  const written = file.readRow()!
  read.set(written)
  file.close()
  assert.equal(beatOf(written), 1234)
  assert.equal(read.closed, 1)
  assert.deepEqual(read.vitals, row.vitals)
  assert.deepEqual(failures, [])
})

test('a heartbeat that cannot be written is reported, so that the process sends a message', () => {
  const file = ReportFile.create()
  file.close()
  let failures = 0
  new ReportedRow(createCells(1), file, () => failures++).beat(1234)
  assert.equal(failures, 1)
})

test('counts that were read later and written earlier change nothing', () => {
  const counts = new Uint32Array([5, 5, 2 ** 32 - 1, 1])
  mergeCounts(counts, new Uint32Array([4, 6, 1, 2 ** 32 - 1]))
  assert.deepEqual([...counts], [5, 6, 1, 1])
})
