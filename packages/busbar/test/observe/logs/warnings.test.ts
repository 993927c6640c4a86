import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toEntry } from '../../../src/observe/log-entry.ts'
import type { Placement } from '../../../src/config/app.ts'
import { levelsOfStderr } from '../../../src/shared/output/log-levels.ts'
import { TestApp } from '../../support/app/test-app.ts'

const folder = `${import.meta.dirname}/../../supervisor/programs`
const file = `${folder}/warns.js`
const [warn, error] = [40, 50]

const placements = {
  shared: { file, run: 'shared' },
  thread: { file, run: 'thread' },
  process: { file, run: 'process' },
  command: {
    file,
    kind: 'command',
    run: 'process' as Placement['run'],
    path: folder,
    entry: { file: process.execPath, args: ['warns.js'], nodeOptions: [], foundBy: 'command' },
  },
} as const

for (const [name, service] of Object.entries(placements))
  test(`all lines of a warning have level warn, those of an error level error: ${name}`, async () => {
    const routes = [{ host: undefined, prefix: '', service: 'warns' }]
    await using app = await TestApp.start({ services: { warns: service }, gateway: { entry: undefined, routes } })
    assert.equal((await fetch(app.url)).status, 200)
    await app.untilLogged('at its stack')
    const records = app.log.filter(({ stream }) => stream === 'stderr')
    const entries = records.map((record) => [record.line.replace(/^\(node:\d+\) /, ''), toEntry(record, 0).level])
    assert.deepEqual(entries, [
      ['[TWO] Warning: a warning', warn],
      ['of two lines', warn],
      ['with a detail', warn],
      ['of two lines', warn],
      ['(Use `node --trace-warnings ...` to show where the warning was created)', warn],
      ['an error', error],
      ['    at its stack', error],
    ])
  })

test('a line from a pipe that may be an error is one', () => {
  const lines = [
    'Error: before',
    '(node:1) [A] DeprecationWarning: traced',
    '    at frame (file.js:1:2)',
    'Error: between',
    '    at frame (file.js:1:2)',
    '(node:1) Warning: next',
    '(node:1) Warning: last',
    'detail',
    '(Use `node --trace-warnings ...` to show where the warning was created)',
    'after',
  ]
  const levels = ['error', 'warn', 'warn', 'error', 'error', 'warn', 'warn', 'warn', 'warn', 'error']
  assert.deepEqual(levelsOfStderr(lines), levels)
})
