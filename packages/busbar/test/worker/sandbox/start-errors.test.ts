import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ErrorCode } from '../../../src/contract/errors.ts'
import { copyProgram, startFailureOf, hostPrograms, StartFailure, HostedApp, serviceOf } from './support/hosted-app.ts'

interface Expected {
  readonly program: string
  readonly code: ErrorCode
  /** Matches the message. */
  readonly message?: RegExp
  /** Matches the stack, which shows the program's own lines. */
  readonly stack?: RegExp
  readonly startTimeout?: number
}

/** Faults that fail a start, and the errors that they cause. */
const table: Record<string, Expected> = {
  'throws while it is imported': {
    program: 'throws/throws.js',
    code: 'PROGRAM_THREW',
    message: /TypeError: no database/,
    stack: /throws-inside\.js:1:7\)?$/,
  },
  'throws while it is required': {
    program: 'throws/throws.cjs',
    code: 'PROGRAM_THREW',
    message: /TypeError: no database/,
    stack: /throws-inside\.cjs:1:7[^]*throws\.cjs:1:1\)$/,
  },
  'throws a value that is not an Error': {
    program: 'throws/throws-text.js',
    code: 'PROGRAM_THREW',
    message: /only text/,
  },
  'throws in a timer': {
    program: 'throws/throws-late.js',
    code: 'PROGRAM_THREW',
    message: /late/,
    stack: /throws-late\.js:2/,
  },
  'throws when it listens': { program: 'throws/throws-when-listening.js', code: 'PROGRAM_THREW', message: /not ready/ },
  'rejects when it listens': {
    program: 'throws/rejects-when-listening.js',
    code: 'PROGRAM_THREW',
    message: /not ready/,
  },
  'exits when it listens': {
    program: 'exits/exits-when-listening.js',
    code: 'PROGRAM_EXITED',
    message: /process\.exit\(7\)/,
  },
  'leaves a rejection unhandled': {
    program: 'throws/rejects.js',
    code: 'PROGRAM_THREW',
    message: /rejection unhandled: Error: rejected/,
    stack: /rejects\.js:3/,
  },
  'rejects with nothing': { program: 'throws/rejects-undefined.js', code: 'PROGRAM_THREW', message: /undefined/ },
  'has a syntax error in an ES module': {
    program: 'throws/syntax.js',
    code: 'PROGRAM_THREW',
    stack: /syntax\.js:2\n.*= ;/,
  },
  'imports an ES module with a syntax error': {
    program: 'throws/syntax-inside.js',
    code: 'PROGRAM_THREW',
    stack: /syntax\.js:2\n.*= ;/,
  },
  'has a syntax error in CommonJS': {
    program: 'throws/syntax.cjs',
    code: 'PROGRAM_THREW',
    stack: /syntax\.cjs:1\n.*= ;/,
  },
  'imports a package that is not installed': {
    program: 'throws/missing.js',
    code: 'PROGRAM_THREW',
    message: /no-such-package/,
  },
  exits: { program: 'exits/exits.js', code: 'PROGRAM_EXITED', message: /process\.exit\(3\)/, stack: /exits\.js:3/ },
  'exits in a timer': {
    program: 'exits/exits-late.cjs',
    code: 'PROGRAM_EXITED',
    message: /process\.exit\(0\)/,
    stack: /leave.*exits-late\.cjs:2/,
  },
  'exits because of an error of its own': {
    program: 'exits/exits-caught.js',
    code: 'PROGRAM_EXITED',
    stack: /exits-caught\.js:6/,
  },
  'sends itself a signal': { program: 'exits/kills.js', code: 'PROGRAM_EXITED', message: /process\.exit\(143\)/ },
  'ends without a server': {
    program: 'never-listens/nothing.js',
    code: 'PROGRAM_NEVER_LISTENED',
    message: /nothing\.js/,
  },
  'exports a promise that never settles': {
    program: 'never-listens/never-settles.js',
    code: 'PROGRAM_START_TIMEOUT',
    startTimeout: 200,
    message: /200 ms/,
  },
  'has a timer and never listens': {
    program: 'never-listens/waits.js',
    code: 'PROGRAM_START_TIMEOUT',
    startTimeout: 200,
    message: /Timeout/,
  },
  'listens for something other than HTTP': {
    program: 'never-listens/raw.js',
    code: 'PROGRAM_START_TIMEOUT',
    startTimeout: 200,
    message: /TCPSERVERWRAP/,
  },
  'exports a helper': {
    program: 'exports/nothing.cjs',
    code: 'PROGRAM_EXPORT_UNKNOWN',
    message: /module\.exports.*keys helper/,
  },
  'exports a class': { program: 'exports/class.js', code: 'PROGRAM_EXPORT_UNKNOWN', message: /class Application/ },
  'exports a number': {
    program: 'exports/number.js',
    code: 'PROGRAM_EXPORT_UNKNOWN',
    message: /default export is a number/,
  },
  'exports a Fastify plugin': {
    program: 'exports/plugin.js',
    code: 'PROGRAM_EXPORT_UNKNOWN',
    message: /Fastify plugin/,
  },
  'exports a function that makes something else': {
    program: 'exports/factory.js',
    code: 'PROGRAM_EXPORT_UNKNOWN',
    message: /keys not/,
  },
  'exports a function that throws': {
    program: 'throws/factory-throws.js',
    code: 'PROGRAM_THREW',
    message: /factory/,
    stack: /factory-throws\.js:2/,
  },
  'uses an enum': { program: 'types/enum.ts', code: 'PROGRAM_NOT_STRIPPABLE', message: /enum/, stack: /enum\.ts:1/ },
  'uses a decorator': { program: 'types/decorator.ts', code: 'PROGRAM_NOT_STRIPPABLE', stack: /decorator\.ts:3/ },
  'uses a parameter property': { program: 'types/parameter.ts', code: 'PROGRAM_NOT_STRIPPABLE' },
  'is JSX': { program: 'types/page.tsx', code: 'PROGRAM_NOT_STRIPPABLE', message: /\.tsx/ },
  'imports TypeScript without an extension': { program: 'types/extensionless.ts', code: 'PROGRAM_NOT_STRIPPABLE' },
  'imports TypeScript as .js': { program: 'types/js-for-ts.ts', code: 'PROGRAM_NOT_STRIPPABLE' },
}

suite('a start fails with an error that names the service when its program', { concurrency: 2 }, () => {
  for (const [fault, expected] of Object.entries(table)) {
    test(`${fault} (${expected.program})`, async () => {
      const { program, code, message = /./, stack = /./, startTimeout = 10_000 } = expected
      const error = await startFailureOf({ shop: { program: `broken/${program}`, startTimeout } })
      assert.equal(error.code, code)
      assert.equal(error.service, 'shop')
      assert.match(error.message, /service 'shop'/)
      assert.match(error.message, message)
      assert.match(error.stack ?? '', stack)
    })
  }

  for (const program of [
    'types/imports-type.ts',
    'types/imports-type-of-package.ts',
    'types/imports-type-inside.js',
    'types/re-exports-type.ts',
  ])
    test(`imports a type as if it were a value (${program})`, async () => {
      const error = await startFailureOf({ shop: { program: `broken/${program}` } })
      assert.equal(error.code, 'PROGRAM_THREW')
      assert.match(error.hint ?? '', /If (Shape|Request) is a type, write `import type \{ \1 \}`/)
      assert.match(error.stack ?? '', /(imports|exports)-type[\w-]*\.ts:1\n/)
    })

  test('imports an export that a JavaScript module does not have: without a hint about types', async () => {
    const error = await startFailureOf({ shop: { program: 'broken/types/imports-nothing.js' } })
    assert.deepEqual([error.code, error.hint], ['PROGRAM_THREW', undefined])
  })

  test('does not listen on the port in the config', async () => {
    const error = await startFailureOf({ shop: { program: 'broken/never-listens/uses-other-port.js', port: 4000 } })
    assert.equal(error.code, 'PROGRAM_NEVER_LISTENED')
    assert.match(error.message, /port 4000.*\[::\]:3000/)
    assert.match(error.hint ?? '', /services\.shop\.port/)
  })
})

suite('a program that exits while it starts', () => {
  test('runs its exit handlers, and no code after the call', async () => {
    await using app = new HostedApp([serviceOf('shop', 'broken/exits/exits.js')])
    await assert.rejects(app.start(), StartFailure)
    assert.deepEqual(app.lines('shop'), ['leaving', 'exit handler 3'])
  })

  test('does not affect the programs that started before it', async () => {
    await using app = new HostedApp([serviceOf('other', 'koa'), serviceOf('shop', 'broken/exits/exits.js')])
    await assert.rejects(app.start(), StartFailure)
    assert.deepEqual(app.faults, [])
  })
})

suite('two programs that register the default metrics of prom-client', () => {
  test('fail the start of the second one, with a hint', async () => {
    const error = await startFailureOf({ one: 'metrics', two: copyProgram('metrics') })
    assert.deepEqual([error.code, error.service], ['PROGRAM_THREW', 'two'])
    assert.match(error.hint!, /new Registry\(\)/)
  })

  test('run if each has its own registry', async () => {
    const env = { OWN: 'yes' }
    await using app = await hostPrograms({
      one: { program: 'metrics', env },
      two: { program: copyProgram('metrics'), env },
    })
    const { metrics } = (await app.json('two')) as { metrics: string }
    assert.match(metrics, /process_cpu_seconds_total/)
  })
})
