import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { type LogOptions, createLog } from '../../../src/observe/log.ts'
import type { LogRecord } from '../../../src/shared/control-messages.ts'

const plain = { time: 1_700_000_000_000, level: 'info', service: 'web', stream: 'stdout', worker: 2 } as const

test('a plain line becomes one JSON event with time, level, service, worker and msg', async () => {
  assert.deepEqual(await logged({ ...plain, line: 'hello' }), {
    level: 30,
    time: plain.time,
    service: 'web',
    worker: 2,
    msg: 'hello',
  })
})

test("standard error is level error, except for Node's own warnings", async () => {
  const stderr = { ...plain, stream: 'stderr' } as const
  assert.equal((await logged({ ...stderr, line: 'Error: no' }))?.['level'], 50)
  assert.equal((await logged({ ...stderr, line: '(node:12) ExperimentalWarning: careful' }))?.['level'], 40)
})

test("Busbar's own events keep their level", async () => {
  const event = await logged({ ...plain, stream: 'busbar', service: undefined, level: 'fatal', line: 'a worker died' })
  assert.deepEqual(event, { level: 60, time: plain.time, worker: 2, msg: 'a worker died' })
})

test("a line of a program's own pino keeps its fields unchanged and gets service and worker", async () => {
  const line = '{"level":50,"time":5,"pid":1,"big":12345678901234567890,"msg":"its own"}'
  const { text } = await written({}, { ...plain, line })
  assert.equal(
    text,
    '{"level":50,"time":5,"pid":1,"big":12345678901234567890,"msg":"its own","service":"web","worker":2}\n',
  )
})

test("a program's own service and worker fields do not replace the origin of the line", async () => {
  const event = await logged({ ...plain, line: '{"level":"warn","msg":"x","service":"other","worker":9}' })
  assert.deepEqual(event, { level: 'warn', msg: 'x', service: 'web', worker: 2, time: plain.time })
})

for (const line of [
  '{"a":1}',
  '{"level":30}',
  '{"level":{},"msg":"x"}',
  '{"level":30,"msg":{"a":1}}',
  '{broken',
  '[1]',
  'null',
])
  test(`a line that only looks like pino's stays text: ${line}`, async () => {
    assert.equal((await logged({ ...plain, line }))?.['msg'], line)
  })

test("lines below the level are dropped; a program's own level counts", async () => {
  const { text } = await written(
    { level: 'warn' },
    { ...plain, line: 'plain' },
    { ...plain, line: '{"level":20,"msg":"debug"}' },
    { ...plain, line: '{"level":40,"msg":"warned"}' },
  )
  assert.deepEqual(messages(text), ['warned'])
})

test('blank lines are dropped', async () => {
  const { text } = await written({}, { ...plain, line: '' }, { ...plain, line: '  ' })
  assert.equal(text, '')
})

test('a line for people keeps its colours, shows other control characters, and cannot look like two', async () => {
  const line = '\x1b[32mgreen\x1b[0m \x1b[2J\x1b]0;title\x07 \u202eback'
  const { text } = await written({ format: 'pretty' }, { ...plain, line })
  assert.ok(text.includes('\x1b[32mgreen\x1b[0m \\u001b[2J\\u001b]0;title\\u0007 \\u202eback'), text)
  const hidden = await written({ format: 'pretty' }, { ...plain, line: '\x1b[8mhidden' })
  assert.ok(hidden.text.endsWith('\x1b[8mhidden\x1b[0m\n'), hidden.text)
  const forged = await written(
    { format: 'pretty' },
    { ...plain, line: JSON.stringify({ level: 30, time: 1, msg: 'one\n[00:00:00.000] INFO: busbar two' }) },
  )
  assert.match(forged.text, / one\n {4}\[00:00:00\.000\] INFO: busbar two\n$/)
})

test('on a terminal an entry is one line with service and worker, with colours only if requested', async () => {
  const bare = await written(
    { format: 'pretty' },
    { ...plain, line: '{"level":30,"time":1,"msg":"hello","extra":{"a":1}}' },
  )
  assert.match(bare.text, /^\[[\d:.]+\] INFO: web\/2 hello \{"extra":\{"a":1\}\}\n$/)
  const colored = await written({ format: 'pretty', colors: true }, { ...plain, line: 'hello' })
  assert.ok(colored.text.includes('\u001B['))
})

test('a stalled reader costs bounded memory, and later gets the number of dropped lines', async () => {
  const reader = new StalledReader()
  const log = createLog({ format: 'json', stream: reader, limit: 2000 })
  for (let line = 0; line < 1000; line++) log.write({ ...plain, line: `line ${line}` })
  assert.ok(reader.writableLength <= 2000, `${reader.writableLength} bytes wait`)
  reader.release()
  await log.flush(1000)
  const said = messages(reader.text)
  assert.ok(said.length < 100)
  const dropped = Number(/^(\d+) log lines dropped/.exec(said.at(-1) ?? '')?.[1])
  assert.equal(dropped + said.length - 1, 1000)
})

test('a flush waits for a stalled reader no longer than its timeout', async () => {
  const reader = new StalledReader()
  const log = createLog({ format: 'json', stream: reader })
  log.event('info', 'one')
  await log.flush(10)
  assert.equal(reader.text, '')
})

test('a closed stream is no error', async () => {
  const gone = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
  const log = createLog({ format: 'json', stream: gone })
  log.event('info', 'one')
  await log.flush(1000)
  log.event('info', 'two')
  await log.flush(1000)
})

/** Accepts the first chunk and stalls until it is released. */
class StalledReader extends Writable {
  text = ''
  #released = false
  #waiting: (() => void) | undefined

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const take = (): void => {
      this.text += chunk.toString()
      done()
    }
    if (this.#released) take()
    else this.#waiting = take
  }

  release(): void {
    this.#released = true
    this.#waiting?.()
  }
}

type Line = LogRecord & { readonly worker: number }

async function written(options: Partial<LogOptions>, ...lines: readonly Line[]): Promise<{ text: string }> {
  const reader = new StalledReader()
  reader.release()
  const log = createLog({ format: 'json', ...options, stream: reader })
  for (const line of lines) log.write(line)
  await log.flush(1000)
  return reader
}

async function logged(line: Line): Promise<Record<string, unknown> | undefined> {
  const { text } = await written({}, line)
  return text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>)
}

function messages(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
}
