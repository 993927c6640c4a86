import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shared } from '../../src/state/shared.ts'
import { CodeThread } from '../support/app/code-thread.ts'

test('an init runs in one thread, and every thread has a clone of its value', async () => {
  const threads = Array.from({ length: 4 }, () => new CodeThread())
  const ask = `
    const init = async () => {
      shared.counter('inits').add()
      await new Promise(setImmediate)
      return { made: new Date(7), bytes: new Uint8Array([1, 2, 3]), big: 2n ** 70n }
    }
    const [one, other] = await Promise.all([shared.once('made', init), shared.once('made', init)])
    return { value: one, same: one === other }`
  const expected = { value: { made: new Date(7), bytes: new Uint8Array([1, 2, 3]), big: 2n ** 70n }, same: true }
  for (const answer of await Promise.all(threads.map((thread) => thread.run(ask)))) assert.deepEqual(answer, expected)
  assert.deepEqual(await shared.once('made', () => assert.fail('a second init')), expected.value)
  assert.equal(shared.counter('inits').value, 1)
  await Promise.all(threads.map((thread) => thread[Symbol.asyncDispose]()))
})

test('an init that fails rejects its own caller, and the next waiting one runs its own', async () => {
  const failure = new Error('not yet')
  const failing = shared.once('fails', () => Promise.reject(failure))
  const waiting = shared.once('fails', () => 'second')
  await assert.rejects(failing, failure)
  assert.equal(await waiting, 'second')
})

test('when the thread that runs the init dies, the next one runs its own', async () => {
  await using thread = new CodeThread()
  const { promise, resolve } = Promise.withResolvers<void>()
  thread.worker.once('message', () => resolve())
  void thread
    .run(
      `await shared.once('dies', () => new Promise(() => require('node:worker_threads').parentPort.postMessage('begun')))`.replace(
        "require('node:worker_threads')",
        "process.getBuiltinModule('node:worker_threads')",
      ),
    )
    .catch(() => {})
  await promise
  const waiting = shared.once('dies', () => 'second')
  await thread.worker.terminate()
  assert.equal(await waiting, 'second')
})

test('waiting for an init ends at its timeout and with its signal', async () => {
  const gate = Promise.withResolvers<string>()
  const first = shared.once('slow', () => gate.promise)
  const never = (): never => assert.fail('a second init')
  await assert.rejects(shared.once('slow', never, { timeout: 10 }), { code: 'DEADLINE_EXCEEDED' })
  await assert.rejects(shared.once('slow', never, { signal: AbortSignal.abort() }), { code: 'CALL_ABORTED' })
  gate.resolve('done')
  assert.equal(await first, 'done')
})

test('a value that cannot be cloned, or does not fit, is refused', async () => {
  await assert.rejects(
    shared.once('function', () => () => {}),
    { code: 'SHARED_INVALID' },
  )
  await assert.rejects(
    shared.once('large', () => new Uint8Array(4 * 1024 * 1024)),
    { code: 'SHARED_FULL', message: /the 4\d+ bytes of shared.once\("large"\): the 4 MiB of shared memory are full/ },
  )
  assert.equal(await shared.once('large', () => 'small'), 'small')
})
