import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

for (const reporter of ['spec', 'dot'])
  test(`behind the summary of ${reporter} is the signal that ended a file, and its last words`, async () => {
    const text = await report('crashes', `--test-reporter=${reporter}`)
    assert.match(
      text,
      /'test failed'\n\n✖ scripts\/test\/programs\/crashes\.test\.ts: its process was ended by SIGKILL\n/,
    )
    assert.match(text, /\n {2}the last lines of its standard error:\n(?: {4}the last words\n)+$/)
  })

test('in CI, too, where no reporter is chosen, the exit code of a file is explained', async () => {
  const text = await report('exits')
  assert.match(text, /ℹ fail 1\n/)
  assert.match(
    text,
    /exits\.test\.ts: its process ended with exit code 3\n {2}it wrote nothing to its standard error\n$/,
  )
})

test('the reporter of failures explains both', async () => {
  const flag = '--test-reporter=./scripts/failures-reporter.ts'
  const killed = await report('crashes', flag)
  assert.match(killed, /crashes\.test\.ts: its process was ended by SIGKILL\nStandard error of .*:\nthe last words\n/)
  assert.match(await report('exits', flag), /exits\.test\.ts: its process ended with exit code 3\n/)
})

test('a file whose failure is explained in its report is not explained again', async () => {
  assert.doesNotMatch(await report('leaks-timer'), /its process/)
})

function report(name: string, ...flags: string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  execFile(
    process.execPath,
    ['scripts/run-tests.ts', ...flags, `scripts/test/programs/${name}.test.ts`],
    { cwd: root, env: { ...process.env, CI: 'true' } },
    (_, stdout) => resolve(stdout),
  )
  return promise
}
