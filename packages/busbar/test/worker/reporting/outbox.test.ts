import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FromWorker, LogRecord } from '../../../src/shared/control-messages.ts'
import { Worker } from 'node:worker_threads'
import { costOf, OutputWindow } from '../../../src/shared/output/output-window.ts'
import { createOutbox } from '../../../src/worker/reporting/outbox.ts'

const record = (line: string): LogRecord => ({ time: 0, level: 'info', service: 'any', stream: 'stdout', line })

test('the first line is sent at once, the next ones in a batch', async () => {
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

test('a message is sent after the lines that were logged before it', () => {
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

test('a flood of lines is sent in bounded batches, even if the event loop does not turn', () => {
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

test('lines wait up to a bound while the window is full, and dropped ones are counted', async () => {
  const window = new OutputWindow()
  const sent: LogRecord[] = []
  let unread = 0
  const flow = { window, blocks: false }
  const outbox = createOutbox(
    (message) => {
      if (message.type !== 'log') return
      sent.push(...message.records)
      for (const each of message.records) if (each.stream === 'stdout') unread += costOf(each)
    },
    () => 0,
    flow,
  )
  const lines = 20_000
  for (let line = 0; line < lines; line++) outbox.log(record('x'.repeat(872)))
  assert.ok(unread <= 512 * 1024, `${unread} bytes are unread`)
  for (let turn = 0; turn < 20; turn++) {
    window.read(unread)
    unread = 0
    outbox.post({ type: 'callsDrained', peer: 0 })
  }
  outbox.flush()
  const said = sent.filter(({ stream }) => stream === 'stdout').length
  const notice = sent.find(({ stream }) => stream === 'busbar')
  assert.equal(said + Number(/^\d+/.exec(notice?.line ?? '')?.[0]), lines)
  assert.ok(said * 1000 < 5 * 1024 ** 2, `${said} lines were kept`)
})

test('a worker that ends sends all lines first, even beyond the window', () => {
  const sent: FromWorker[] = []
  const flow = { window: new OutputWindow(), blocks: false }
  const outbox = createOutbox((message) => sent.push(message), undefined, flow)
  for (let line = 0; line < 2000; line++) outbox.log(record('x'.repeat(872)))
  assert.ok(sent.flatMap(linesOf).length < 2000)
  outbox.post({ type: 'stopped' })
  assert.equal(sent.flatMap(linesOf).length, 2000)
  assert.equal(sent.at(-1)?.type, 'stopped')
})

test('a thread that blocks never has more unread output than the window', async () => {
  const memory = new SharedArrayBuffer(4)
  const window = new OutputWindow(memory)
  const worker = new Worker(new URL('programs/prints.ts', import.meta.url), { workerData: { memory, lines: 20_000 } })
  let [lines, unread] = [0, 0]
  const queue: LogRecord[][] = []
  const taken = Promise.withResolvers<void>()
  worker.on('message', (message: FromWorker) => {
    if (message.type !== 'log') return
    queue.push(message.records)
    for (const each of message.records) unread += costOf(each)
    assert.ok(unread <= 512 * 1024, `${unread} bytes are unread`)
    setImmediate(() => {
      const size = queue.shift()!.reduce((sum, each) => sum + costOf(each), 0)
      lines += message.records.length
      unread -= size
      window.read(size)
      if (lines === 20_000) taken.resolve()
    })
  })
  await taken.promise
  await worker.terminate()
})
