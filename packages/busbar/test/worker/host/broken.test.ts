import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ErrorCode } from '../../../src/contract/errors.ts'
import { another, failureOf, hosting, StartFailure, HostedApp, serviceOf } from './support/app.ts'

interface Expected {
  readonly program: string
  readonly code: ErrorCode
  /** Of the message. */
  readonly says?: RegExp
  /** Of the stack that is shown: the program's own. */
  readonly at?: RegExp
  readonly startTimeout?: number
}

/** What fails a start, and what the operator reads then. */
const table: Record<string, Expected> = {
  'throws while it is imported': {
    program: 'throws.js',
    code: 'PROGRAM_THREW',
    says: /TypeError: no database/,
    at: /throws-inside\.js:1:7\)?$/,
  },
  'throws while it is required': {
    program: 'throws.cjs',
    code: 'PROGRAM_THREW',
    says: /TypeError: no database/,
    at: /throws-inside\.cjs:1:7[^]*throws\.cjs:1:1\)$/,
  },
  'throws what is no error': { program: 'throws-text.js', code: 'PROGRAM_THREW', says: /only text/ },
  'throws in a timer': { program: 'throws-late.js', code: 'PROGRAM_THREW', says: /late/, at: /throws-late\.js:2/ },
  'throws when it listens': { program: 'throws-when-listening.js', code: 'PROGRAM_THREW', says: /not ready/ },
  'rejects when it listens': { program: 'rejects-when-listening.js', code: 'PROGRAM_THREW', says: /not ready/ },
  'exits when it listens': { program: 'exits-when-listening.js', code: 'PROGRAM_EXITED', says: /process\.exit\(7\)/ },
  'leaves a rejection unhandled': {
    program: 'rejects.js',
    code: 'PROGRAM_THREW',
    says: /rejection unhandled: Error: rejected/,
    at: /rejects\.js:3/,
  },
  'rejects with nothing': { program: 'rejects-undefined.js', code: 'PROGRAM_THREW', says: /undefined/ },
  'has a syntax error in an ES module': { program: 'syntax.js', code: 'PROGRAM_THREW', at: /syntax\.js:2\n.*= ;/ },
  'imports one with a syntax error': { program: 'syntax-inside.js', code: 'PROGRAM_THREW', at: /syntax\.js:2\n.*= ;/ },
  'has a syntax error in CommonJS': { program: 'syntax.cjs', code: 'PROGRAM_THREW', at: /syntax\.cjs:1\n.*= ;/ },
  'imports what is not installed': { program: 'missing.js', code: 'PROGRAM_THREW', says: /no-such-package/ },
  exits: { program: 'exits.js', code: 'PROGRAM_EXITED', says: /process\.exit\(3\)/, at: /exits\.js:3/ },
  'exits in a timer': {
    program: 'exits-late.cjs',
    code: 'PROGRAM_EXITED',
    says: /process\.exit\(0\)/,
    at: /leave.*exits-late\.cjs:2/,
  },
  'exits because of an error of its own': {
    program: 'exits-caught.js',
    code: 'PROGRAM_EXITED',
    at: /exits-caught\.js:6/,
  },
  'sends itself a signal': { program: 'kills.js', code: 'PROGRAM_EXITED', says: /process\.exit\(143\)/ },
  'ends without a server': { program: 'nothing.js', code: 'PROGRAM_NEVER_LISTENED', says: /nothing\.js/ },
  'exports a promise that never settles': {
    program: 'never-settles.js',
    code: 'PROGRAM_START_TIMEOUT',
    startTimeout: 200,
    says: /200 ms/,
  },
  'has a timer and never listens': {
    program: 'waits.js',
    code: 'PROGRAM_START_TIMEOUT',
    startTimeout: 200,
    says: /Timeout/,
  },
  'listens for something other than HTTP': {
    program: 'raw.js',
    code: 'PROGRAM_START_TIMEOUT',
    startTimeout: 200,
    says: /TCPSERVERWRAP/,
  },
  'exports a helper': { program: 'nothing.cjs', code: 'PROGRAM_EXPORT_UNKNOWN', says: /module\.exports.*keys helper/ },
  'exports a class': { program: 'class.js', code: 'PROGRAM_EXPORT_UNKNOWN', says: /class Application/ },
  'exports a number': { program: 'number.js', code: 'PROGRAM_EXPORT_UNKNOWN', says: /default export is a number/ },
  'exports a Fastify plugin': { program: 'plugin.js', code: 'PROGRAM_EXPORT_UNKNOWN', says: /Fastify plugin/ },
  'exports a function that makes something else': {
    program: 'factory.js',
    code: 'PROGRAM_EXPORT_UNKNOWN',
    says: /keys not/,
  },
  'exports a function that throws': {
    program: 'factory-throws.js',
    code: 'PROGRAM_THREW',
    says: /factory/,
    at: /factory-throws\.js:2/,
  },
  'uses an enum': { program: 'enum.ts', code: 'PROGRAM_NOT_STRIPPABLE', says: /enum/, at: /enum\.ts:1/ },
  'uses a decorator': { program: 'decorator.ts', code: 'PROGRAM_NOT_STRIPPABLE', at: /decorator\.ts:3/ },
  'uses a parameter property': { program: 'parameter.ts', code: 'PROGRAM_NOT_STRIPPABLE' },
  'is JSX': { program: 'page.tsx', code: 'PROGRAM_NOT_STRIPPABLE', says: /\.tsx/ },
  'imports TypeScript without an extension': { program: 'extensionless.ts', code: 'PROGRAM_NOT_STRIPPABLE' },
  'imports TypeScript as .js': { program: 'js-for-ts.ts', code: 'PROGRAM_NOT_STRIPPABLE' },
}

suite('a start fails, by the name of the service, when its program', { concurrency: 2 }, () => {
  for (const [does, expected] of Object.entries(table)) {
    test(`${does} (${expected.program})`, async () => {
      const { program, code, says = /./, at = /./, startTimeout = 10_000 } = expected
      const error = await failureOf({ shop: { program: `broken/${program}`, startTimeout } })
      assert.equal(error.code, code)
      assert.equal(error.service, 'shop')
      assert.match(error.message, /service 'shop'/)
      assert.match(error.message, says)
      assert.match(error.stack ?? '', at)
    })
  }

  for (const program of [
    'imports-type.ts',
    'imports-type-of-package.ts',
    'imports-type-inside.js',
    're-exports-type.ts',
  ])
    test(`imports a type as if it were a value (${program})`, async () => {
      const error = await failureOf({ shop: { program: `broken/${program}` } })
      assert.equal(error.code, 'PROGRAM_THREW')
      assert.match(error.hint ?? '', /If (Shape|Request) is a type, write `import type \{ \1 \}`/)
      assert.match(error.stack ?? '', /(imports|exports)-type[\w-]*\.ts:1\n/)
    })

  test('imports from JavaScript what is not there, of which nothing is said', async () => {
    const error = await failureOf({ shop: { program: 'broken/imports-nothing.js' } })
    assert.deepEqual([error.code, error.hint], ['PROGRAM_THREW', undefined])
  })

  test('does not listen on the port that the config says', async () => {
    const error = await failureOf({ shop: { program: 'broken/uses-other-port.js', port: 4000 } })
    assert.equal(error.code, 'PROGRAM_NEVER_LISTENED')
    assert.match(error.message, /port 4000.*\[::\]:3000/)
    assert.match(error.hint ?? '', /services\.shop\.port/)
  })
})

suite('a program that exits while it starts', () => {
  test('has run its exit handlers, and nothing behind the call', async () => {
    await using app = new HostedApp([serviceOf('shop', 'broken/exits.js')])
    await assert.rejects(app.start(), StartFailure)
    assert.deepEqual(app.lines('shop'), ['leaving', 'exit handler 3'])
  })

  test('leaves the programs that started before it to themselves', async () => {
    await using app = new HostedApp([serviceOf('other', 'koa'), serviceOf('shop', 'broken/exits.js')])
    await assert.rejects(app.start(), StartFailure)
    assert.deepEqual(app.faults, [])
  })
})

suite('two programs that register the defaults of prom-client', () => {
  test('are told why the second one fails, and what to do', async () => {
    const error = await failureOf({ one: 'metrics', two: another('metrics') })
    assert.deepEqual([error.code, error.service], ['PROGRAM_THREW', 'two'])
    assert.match(error.hint!, /new Registry\(\)/)
  })

  test('run with a registry each', async () => {
    const env = { OWN: 'yes' }
    await using app = await hosting({ one: { program: 'metrics', env }, two: { program: another('metrics'), env } })
    const { metrics } = (await app.json('two')) as { metrics: string }
    assert.match(metrics, /process_cpu_seconds_total/)
  })
})
