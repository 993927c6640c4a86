import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

test('a run without failures prints one line', async () => {
  assert.match(await report('clean'), /^✔ Node [\d.]+: 1 tests, 1 passed, 0 failed, .*\n$/)
})

test('a failure is printed with its reason, and counted in the last line', async () => {
  const text = await report('leaks-server')
  assert.match(text, /^✖ .*\n[^]*left behind when the tests had ended: Server/)
  assert.match(text, /\n✖ Node [\d.]+: .* 1 failed, .*\n$/)
})

/** With CI set, as that selects another default reporter. */
function report(name: string): Promise<string> {
  const flag = '--test-reporter=./scripts/failures-reporter.ts'
  const { promise, resolve } = Promise.withResolvers<string>()
  execFile(
    process.execPath,
    ['scripts/run-tests.ts', flag, `scripts/test/programs/${name}.test.ts`],
    { cwd: root, env: { ...process.env, CI: 'true' } },
    (_, stdout) => resolve(stdout),
  )
  return promise
}
