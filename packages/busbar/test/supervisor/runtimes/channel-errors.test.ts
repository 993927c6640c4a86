import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const module = new URL('../../../src/supervisor/runtimes/channel-errors.ts', import.meta.url).href

test('an exception of other code ends the process, even with two copies of the package', async () => {
  const host = `
    for (const copy of ['1', '2']) {
      const { startIsolated } = await import('${module}?copy=' + copy)
      startIsolated(() => {}, () => {})
    }
    setTimeout(() => console.log('still there'), 100)
    throw new Error('a mistake of the host')`
  const ended = promisify(execFile)(process.execPath, ['--input-type=module', '-e', host])
  await assert.rejects(ended, { code: 1, stdout: '', stderr: /Error: a mistake of the host\n/ })
})
