import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { packageVersion } from '../../src/shared/package-files.ts'
import { BusbarError } from '../../src/contract/errors.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'

test('flags may come before and after the folder, long or short, with or without an equals sign', () => {
  const lines = [
    ['start', 'app', '--workers', '2', '--port=0'],
    ['start', '-w', '2', 'app', '-p', '0'],
    ['start', '--port', '0', '--workers=2', '--', 'app'],
  ]
  for (const line of lines) {
    const { command, operands, flags } = parseCommandLine(line)
    assert.deepEqual([command?.name, operands, { ...flags }], ['start', ['app'], { workers: 2, port: 0 }])
  }
})

test('an empty argument is rejected: it may be a variable that is not set', () => {
  assert.throws(() => parseCommandLine(['start', '']), { code: 'USAGE', message: 'an argument is empty' })
})

test('workers may be auto', () => {
  assert.equal(parseCommandLine(['start', '--workers', 'auto']).flags.workers, 'auto')
})

test('--run accepts each placement', () => {
  for (const run of ['shared', 'thread', 'process'])
    assert.equal(parseCommandLine(['start', '--run', run]).flags.run, run)
})

const wrong: readonly (readonly [line: string, message: RegExp, hint?: RegExp])[] = [
  ['strat', /no command "strat"/, /Did you mean start\?/],
  ['deploy', /no command "deploy"/, /start, dev, check/],
  ['help chekc', /no command "chekc"/, /Did you mean check\?/],
  ['start --wrokers 2', /busbar start has no flag --wrokers/, /Did you mean --workers\?/],
  ['start -x', /busbar start has no flag -x/, /busbar start --help/],
  ['openapi --json', /busbar openapi has no flag --json/],
  ['--workers 2', /busbar has no flag --workers/],
  ['start a b', /"b" is one argument too many/],
  ['ps a b', /"b" is one argument too many/],
  ['start --port', /--port needs a value/],
  ['start --port=', /--port needs a value/],
  ['start --host --verbose', /--host needs a value/],
  ['start --port 65536', /--port must be a whole number from 0 to 65535, not "65536"/],
  ['start --port 1e3', /--port must be/],
  ['start --workers 0', /--workers must be a whole number from 1 to 1024, or auto, not "0"/],
  ['start --log-level wran', /--log-level must be one of trace, .* not "wran"/, /Did you mean warn\?/],
  ['start --run threads', /--run must be one of shared, thread, process, not "threads"/, /Did you mean thread\?/],
  ['check --json=yes', /--json takes no value/],
]

for (const [line, message, hint] of wrong)
  test(`busbar ${line} is rejected with a helpful message`, () => {
    assert.throws(
      () => parseCommandLine(line.split(' ')),
      (error) => {
        assert.ok(BusbarError.is(error, 'USAGE'))
        assert.match(error.message, message)
        if (hint !== undefined) assert.match(error.hint ?? '', hint)
        return true
      },
    )
  })

test('an invalid command line exits with 2 and prints only to standard error', async () => {
  const { code, stdout, stderr } = await BusbarProcess.run(['strat'])
  assert.deepEqual([code, stdout], [2, ''])
  assert.equal(stderr, 'busbar: there is no command "strat" (USAGE)\n  hint: Did you mean start?\n')
})

test('without a command, busbar prints the help to standard error and exits with 2', async () => {
  const { code, stdout, stderr } = await BusbarProcess.run([])
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^Busbar runs/)
})

test('--help and --version print to standard output and exit with 0', async () => {
  for (const [args, expected] of [
    [['--version'], new RegExp(`^${packageVersion()}\n$`)],
    [['--help'], /^Busbar runs/],
    [['dev', '--help'], /^Usage:\n {2}busbar dev \[folder\|file\] \[flags\]/],
    [['help', 'dev'], /^Usage:\n {2}busbar dev/],
  ] as const) {
    const { code, stdout, stderr } = await BusbarProcess.run(args)
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, expected)
  }
})

test('colours are off without a terminal, unless they are forced', async () => {
  const forced = await BusbarProcess.run(['strat'], { env: { NO_COLOR: undefined, FORCE_COLOR: '1' } })
  assert.ok(forced.stderr.includes('\u001B[31m'))
  const bare = await BusbarProcess.run(['strat'], { env: { NO_COLOR: undefined } })
  assert.ok(!bare.stderr.includes('\u001B'))
})

test('with --json an error of the command line is JSON, too', async () => {
  const { code, stdout } = await BusbarProcess.run(['ps', '--json', '--al'])
  assert.equal(code, 2)
  assert.equal((JSON.parse(stdout) as { error: { code: string } }).error.code, 'USAGE')
})
