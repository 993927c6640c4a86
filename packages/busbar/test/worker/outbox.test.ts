import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FromWorker, LogRecord } from '../../src/shared/control.ts'
import { createOutbox } from '../../src/worker/outbox.ts'

const record = (line: string): LogRecord => ({ time: 0, level: 'info', service: 'any', stream: 'stdout', line })

test('the first line leaves at once, those of the same moment together behind it', async () => {
  let now = 0
  const sent: string[][] = []
  const outbox = createOutbox(
    (message) => sent.push(linesOf(message)),
    () => now,
  )
  outbox.log(record('1'))
  assert.deepEqual(sent, [['1']])
  outbox.log(record('2'))
  outbox.log(record('3'))
  assert.deepEqual(sent, [['1']])
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(sent, [['1'], ['2', '3']])
  now = 1000
  outbox.log(record('4'))
  assert.deepEqual(sent, [['1'], ['2', '3'], ['4']])
})

test('what is posted keeps its place behind the lines that were said before', () => {
  const sent: FromWorker['type'][] = []
  const outbox = createOutbox(
    (message) => sent.push(message.type),
    () => 0,
  )
  outbox.log(record('1'))
  outbox.log(record('2'))
  outbox.post({ type: 'stopped' })
  outbox.flush()
  assert.deepEqual(sent, ['log', 'log', 'stopped'])
})

test('a flood leaves in bounded batches although the event loop does not turn', () => {
  const sent: number[] = []
  const outbox = createOutbox(
    (message) => sent.push(linesOf(message).length),
    () => 0,
  )
  for (let line = 0; line < 2501; line++) outbox.log(record(''))
  assert.deepEqual(sent, [1, 1000, 1000])
  outbox.flush()
  assert.deepEqual(sent, [1, 1000, 1000, 500])
})

function linesOf(message: FromWorker): string[] {
  return message.type === 'log' ? message.records.map(({ line }) => line) : []
}
