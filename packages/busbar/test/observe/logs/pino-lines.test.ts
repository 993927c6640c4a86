import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { createJsonFormat } from '../../../src/observe/log-format.ts'
import { type LogLevel, levelNumber, toEntry } from '../../../src/observe/log-entry.ts'

const levels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
const texts = ['plain', '', '"quoted" \\ {}', 'line\nbreak\t\u0000\u001b[1m', 'é 漢 😀 \u2028', 'x'.repeat(200)]

/** What pino itself writes, without the time, process and host that Busbar leaves out. */
function byPino(level: LogLevel, fields: object, msg: string): string {
  let written = ''
  const logger = pino(
    { level: 'trace', base: undefined, timestamp: false },
    { write: (line: string) => void (written = line) },
  )
  logger[level](fields, msg)
  return written
}

test('a line of the log is the line that pino would write', () => {
  const format = createJsonFormat()
  for (const level of levels)
    for (const msg of texts) {
      const fields = { url: 'http://127.0.0.1:80', took: 1.5, nested: { list: [1, null, msg], no: undefined } }
      const entry = { level: levelNumber(level), time: 12, service: 'web', worker: 3 }
      assert.equal(
        format({ ...entry, content: { kind: 'text', msg, fields } }),
        byPino(level, { time: 12, service: 'web', worker: 3, ...fields }, msg),
      )
      assert.equal(
        format({ ...entry, service: undefined, worker: undefined, content: { kind: 'text', msg } }),
        byPino(level, { time: 12 }, msg),
      )
    }
})

test('the levels are those of pino, by number and by label', () => {
  for (const level of levels) {
    assert.equal(levelNumber(level), pino.levels.values[level])
    const line = JSON.stringify({ level: level.toUpperCase(), msg: 'x' })
    const record = { time: 1, level: 'info', service: 'web', stream: 'stdout', line } as const
    assert.equal(toEntry(record, 0).level, pino.levels.values[level])
  }
  const unknown = {
    time: 1,
    level: 'info',
    service: 'web',
    stream: 'stdout',
    line: '{"level":"constructor","msg":"x"}',
  }
  assert.equal(toEntry(unknown as never, 0).content.kind, 'text')
})
