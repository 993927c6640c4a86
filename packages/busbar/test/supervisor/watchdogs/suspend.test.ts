import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const skip = process.platform === 'win32' && 'no SIGSTOP on Windows'

test(
  'a process that was suspended for longer than a worker may be stuck goes on with the same worker',
  { skip },
  async (t) => {
    const child = spawn(process.execPath, [`${import.meta.dirname}/programs/suspended.ts`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    t.after(() => void child.kill('SIGKILL'))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async (): Promise<unknown> => JSON.parse((await lines.next()).value as string)
    const before = await next()
    child.kill('SIGSTOP')
    await sleep(3500)
    child.kill('SIGCONT')
    // The watchdog checks the worker many times until the child answers.
    child.stdin.write('report\n')
    assert.deepEqual(await next(), before)
    child.stdin.end()
    assert.deepEqual(await once(child, 'exit'), [0, null])
  },
)
