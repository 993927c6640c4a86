import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const runner = fileURLToPath(new URL('../run-tests.ts', import.meta.url))
const linuxOnly = process.platform === 'linux' ? false : 'only Linux exposes the environment of other processes'

test('a test file that closes everything passes, and its children do not run as test files', async () => {
  const { code, output } = await runFile('clean')
  assert.equal(code, 0, output)
})

test('an open server fails its file and is named', async () => {
  const { code, output } = await runFile('leaks-server')
  assert.equal(code, 1)
  assert.match(output, /left behind when the tests had ended: Server/)
})

test('a pending timer fails its file and is named', async () => {
  const { code, output } = await runFile('leaks-timer')
  assert.equal(code, 1)
  assert.match(output, /left behind when the tests had ended: Timeout, by .*\.test\.ts/)
})

test('a rejection after the end of its test fails its file', async () => {
  const { code, output } = await runFile('leaks-rejection')
  assert.equal(code, 1)
  assert.match(output, /nobody waits for this/)
})

test('a running child fails its file and is killed', { skip: linuxOnly }, async () => {
  await assertEnded(await runFile('leaks-child'))
})

test('an orphaned grandchild fails its file and is killed', { skip: linuxOnly }, async () => {
  await assertEnded(await runFile('leaks-detached'))
})

interface Run {
  readonly code: number
  readonly output: string
}

async function assertEnded({ code, output }: Run): Promise<void> {
  assert.equal(code, 1, output)
  const pid = Number(/left behind when the tests had ended: .*process (\d+) \(/.exec(output)?.[1])
  assert.ok(pid > 0, output)
  assert.match(output, new RegExp(`left running by a test: process ${pid} `))
}

function runFile(name: string): Promise<Run> {
  const file = fileURLToPath(new URL(`programs/${name}.test.ts`, import.meta.url))
  const { promise, resolve } = Promise.withResolvers<Run>()
  execFile(process.execPath, [runner, file], (error, stdout, stderr) => {
    resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
  })
  return promise
}
