import { spawn } from 'node:child_process'
import { test } from 'node:test'

test('leaves a child running', () => {
  spawn(process.execPath, ['-e', 'setTimeout(() => {}, 30000)'], { stdio: 'ignore' }).unref()
})
