import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, test } from 'node:test'
import { Worker } from 'node:worker_threads'

suite('hosting that is disposed', () => {
  test('leaves Node as it was, named imports too', async () => {
    const worker = new Worker(new URL('support/disposing.ts', import.meta.url))
    const [changed] = (await once(worker, 'message')) as [{ installed: string[]; disposed: string[] }]
    await once(worker, 'exit')
    assert.ok(changed.installed.includes('process.exit') && changed.installed.includes('fs.writeSync'))
    assert.deepEqual(changed.disposed, [])
  })
})
