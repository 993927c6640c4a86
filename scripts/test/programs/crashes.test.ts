import { writeSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

test('passes', () => {})

test('ends the process', async () => {
  // Repeated, since the runner does not wait for the end of the standard error.
  for (let n = 0; n < 20; n++) {
    writeSync(2, 'the last words\n')
    await sleep(50)
  }
  process.kill(process.pid, 'SIGKILL')
})
