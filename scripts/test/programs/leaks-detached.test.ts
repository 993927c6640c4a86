import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

test('leaves a grandchild running that has no parent any more', () => {
  const start = `require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 30000)'], { stdio: 'ignore', detached: true }).unref()`
  execFileSync(process.execPath, ['-e', start])
})
