import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorText } from '../../src/cli/print-error.ts'
import type { Output } from '../../src/cli/terminal.ts'
import { BusbarError, type ErrorParts } from '../../src/contract/errors.ts'

const plain: Output = { stream: process.stderr, isTerminal: false, colors: false }

test('says what happened, the code and the hint', () => {
  const error = new BusbarError('PORT_IN_USE', { message: 'port 3043 is in use', hint: 'Choose another.' })
  assert.equal(errorText(plain, error, false), 'busbar: port 3043 is in use (PORT_IN_USE)\n  hint: Choose another.')
})

test('names the service unless the message does', () => {
  assert.match(textOf({ message: 'it exited', service: 'web' }), /^busbar: service web: it exited/)
  assert.match(textOf({ message: 'web exited', service: 'web' }), /^busbar: web exited/)
})

test("shows the program's own frames, and neither Busbar's nor Node's", () => {
  const cause = new TypeError('no such thing')
  const own = new URL('../../src/worker/host/load.ts', import.meta.url)
  cause.stack = `TypeError: no such thing\n    at run (/app/web/index.js:3:1)\n    at node:internal/x:1\n    at load (${own.pathname}:1:1)`
  const text = textOf({ message: 'web threw', cause })
  assert.ok(text.endsWith('\n\n  TypeError: no such thing\n      at run (/app/web/index.js:3:1)'), text)
})

test("shows the program's stack of an error that came over from a worker, and none where it was ours", () => {
  const cause = new Error('theirs')
  const theirs = BusbarError.fromRecord(new BusbarError('PROGRAM_THREW', { message: 'web threw', cause }).toRecord())
  assert.match(errorText(plain, theirs, false), /\n {2}Error: theirs\n/)
  const ours = BusbarError.fromRecord(
    new BusbarError('PROGRAM_NEVER_LISTENED', { message: 'web is silent' }).toRecord(),
  )
  assert.equal(errorText(plain, ours, false), 'busbar: web is silent (PROGRAM_NEVER_LISTENED)')
})

test('a wrong config shows no stack, but for the whole chain when asked', () => {
  const cause = new Error('ENOENT')
  const error = new BusbarError('CONFIG_UNREADABLE', { message: 'no', cause })
  assert.equal(errorText(plain, error, false), 'busbar: no (CONFIG_UNREADABLE)')
  assert.match(errorText(plain, error, true), /BusbarError: no\n[\s\S]+caused by: Error: ENOENT\n/)
})

test('what was thrown by nobody we know is a fault of Busbar, with its stack', () => {
  assert.match(
    errorText(plain, BusbarError.from(new RangeError('odd')), false),
    /^busbar: odd \(INTERNAL\)\n[\s\S]+RangeError: odd\n/,
  )
})

function textOf(parts: ErrorParts): string {
  return errorText(plain, new BusbarError('PROGRAM_THREW', parts), false)
}
