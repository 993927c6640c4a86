import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorText } from '../../src/cli/terminal/print-error.ts'
import type { Output } from '../../src/cli/terminal/terminal.ts'
import { BusbarError, type ErrorParts, restoreError } from '../../src/contract/errors.ts'

const plain: Output = { stream: process.stderr, isTerminal: false, colors: false, lost: new AbortController().signal }

test('prints the message, the code and the hint', () => {
  const error = new BusbarError('PORT_IN_USE', { message: 'port 3043 is in use', hint: 'Choose another.' })
  assert.equal(errorText(plain, error, false), 'busbar: port 3043 is in use (PORT_IN_USE)\n  hint: Choose another.')
})

test('prints the service unless the message names it', () => {
  assert.match(textOf({ message: 'it exited', service: 'web' }), /^busbar: service 'web': it exited/)
  assert.match(textOf({ message: 'web exited', service: 'web' }), /^busbar: web exited/)
})

test("prints the program's own stack frames, without those of Busbar and Node", () => {
  const cause = new TypeError('no such thing')
  const own = new URL('../../src/worker/sandbox/start/load-entry.ts', import.meta.url)
  cause.stack = `TypeError: no such thing\n    at run (/app/web/index.js:3:1)\n    at node:internal/x:1\n    at load (${own.pathname}:1:1)`
  const text = textOf({ message: 'web threw', cause })
  assert.ok(text.endsWith('\n\n  TypeError: no such thing\n      at run (/app/web/index.js:3:1)'), text)
})

test("prints the stack of a program's error from a worker, but not Busbar's own", () => {
  const cause = new Error('theirs')
  const theirs = restoreError(new BusbarError('PROGRAM_THREW', { message: 'web threw', cause }).toRecord())
  assert.match(errorText(plain, theirs, false), /\n {2}Error: theirs\n/)
  const ours = restoreError(new BusbarError('PROGRAM_NEVER_LISTENED', { message: 'web is silent' }).toRecord())
  assert.equal(errorText(plain, ours, false), 'busbar: web is silent (PROGRAM_NEVER_LISTENED)')
})

test('control characters of a program are shown as escapes, but for the ends of lines', () => {
  const cause = new Error('theirs')
  cause.stack = 'Error: \x1b[2Jtheirs\n\tat \u202erun'
  const text = textOf({ message: 'web threw \x1b]0;title\x07', hint: 'Look\rat it.', cause })
  assert.equal(
    text,
    'busbar: web threw \\u001b]0;title\\u0007 (PROGRAM_THREW)\n  hint: Look\\u000dat it.\n\n  Error: \\u001b[2Jtheirs\n  \tat \\u202erun',
  )
})

test('an invalid config has no stack; verbose prints the chain of causes', () => {
  const cause = new Error('ENOENT')
  const error = new BusbarError('CONFIG_UNREADABLE', { message: 'no', cause })
  assert.equal(errorText(plain, error, false), 'busbar: no (CONFIG_UNREADABLE)')
  assert.match(errorText(plain, error, true), /BusbarError: no\n[\s\S]+caused by: Error: ENOENT\n/)
})

test('an unknown error is an internal one, with its stack', () => {
  assert.match(
    errorText(plain, BusbarError.from(new RangeError('odd')), false),
    /^busbar: odd \(INTERNAL\)\n[\s\S]+RangeError: odd\n/,
  )
})

function textOf(parts: ErrorParts): string {
  return errorText(plain, new BusbarError('PROGRAM_THREW', parts), false)
}
