import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { startRunningTimeout } from '../../src/shared/time/running-timeout.ts'

function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

for (const before of [0, 150])
  test(`what arrives while the thread is blocked is read before a timeout (${before} ms after its start)`, async () => {
    const { port1, port2 } = new MessageChannel()
    const seen = Promise.withResolvers<string>()
    port1.on('message', seen.resolve)
    const clear = startRunningTimeout(200, () => seen.resolve('timeout'))
    setTimeout(() => {
      port2.postMessage('message')
      block(400)
    }, before)
    assert.equal(await seen.promise, 'message')
    clear()
    port1.close()
  })

test('a timeout that is not cleared comes once, and one that is cleared never', async () => {
  const came: string[] = []
  startRunningTimeout(20, () => came.push('kept'))
  startRunningTimeout(20, () => came.push('cleared'))()
  await new Promise((resolve) => setTimeout(resolve, 200))
  assert.deepEqual(came, ['kept'])
})
