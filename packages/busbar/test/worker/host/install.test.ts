import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, test } from 'node:test'
import { Worker } from 'node:worker_threads'

suite('hosting that is disposed', () => {
  test('leaves Node as it was, named imports too', async () => {
    const worker = new Worker(new URL('support/disposing.ts', import.meta.url))
    // Both may come in one turn.
    const [[message]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
    const changed = message as { installed: string[]; disposed: string[] }
    assert.ok(changed.installed.includes('process.exit') && changed.installed.includes('fs.writeSync'))
    assert.deepEqual(changed.disposed, [])
  })
})
