import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, test } from 'node:test'
import { Worker } from 'node:worker_threads'

suite('a sandbox that is disposed', () => {
  test('restores Node, named imports included', async () => {
    const worker = new Worker(new URL('support/compare-patches.ts', import.meta.url))
    // Both may come in one turn.
    const [[message]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
    const changed = message as { installed: string[]; disposed: string[] }
    assert.ok(changed.installed.includes('process.exit') && changed.installed.includes('fs.writeSync'))
    assert.deepEqual(changed.disposed, [])
  })
})
