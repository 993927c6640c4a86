import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shared } from '../../src/state/shared.ts'
import { CodeThread } from '../support/app/code-thread.ts'

/** Waits until an atomic, in which other threads count themselves, has the value. */
async function untilAtomic(name: string, value: number): Promise<void> {
  const atomic = shared.atomic(name)
  while (atomic.load() !== value) await new Promise(setImmediate)
}

test('only one thread at a time holds a mutex, however it is acquired', async () => {
  const threads = Array.from({ length: 4 }, () => new CodeThread())
  const take = (way: string): string => `
    const mutex = shared.mutex('one')
    const total = shared.atomic('one')
    for (let at = 0; at < 2000; at++) {
      const held = ${way}
      total.store(total.load() + 1)
      held.release()
    }`
  const ways = ['await mutex.lock()', 'mutex.lockSync()', 'await mutex.lock({ timeout: 60_000 })', 'mutex.lockSync()']
  await Promise.all(threads.map((thread, index) => thread.run(take(ways[index]!))))
  assert.equal(shared.atomic('one').load(), 8000)
  await Promise.all(threads.map((thread) => thread[Symbol.asyncDispose]()))
})

test('a mutex is first come, first served within a thread', async () => {
  const mutex = shared.mutex('line')
  const held = await mutex.lock()
  const order: number[] = []
  const waiting = [1, 2, 3].map(async (number) => {
    using _ = await mutex.lock()
    order.push(number)
  })
  assert.equal(mutex.tryLock(), undefined)
  held.release()
  await Promise.all(waiting)
  assert.deepEqual(order, [1, 2, 3])
})

test('waiting for a lock does not block the event loop', async () => {
  await using thread = new CodeThread()
  await thread.run("kept.held = await shared.mutex('turns').lock()")
  const waiting = shared.mutex('turns').lock()
  let turns = 0
  while (turns < 100) await new Promise((resolve) => setImmediate(() => resolve(turns++)))
  await thread.run('kept.held.release()')
  ;(await waiting).release()
})

test('a lock is released only once, and at the end of its scope', async () => {
  const mutex = shared.mutex('scope')
  {
    using held = await mutex.lock()
    assert.equal(held.abandoned, false)
    held.release()
    using _ = mutex.lockSync()
    // Another holder has it by now.
    held.release()
    assert.equal(mutex.tryLock(), undefined)
  }
  {
    await using _ = await mutex.lock()
    assert.equal(mutex.tryLock(), undefined)
  }
  mutex.tryLock()!.release()
})

for (const way of ['await lock', 'lockSync'])
  test(`waiting for a lock ends at its timeout (${way})`, async () => {
    await using thread = new CodeThread()
    await thread.run("kept.held = await shared.mutex('late').lock()")
    const mutex = shared.mutex('late')
    const expected = { code: 'DEADLINE_EXCEEDED', message: 'shared.mutex("late") could not be acquired within 30 ms' }
    if (way === 'lockSync') assert.throws(() => mutex.lockSync({ timeout: 30 }), expected)
    else await assert.rejects(mutex.lock({ timeout: 30 }), expected)
    assert.throws(() => mutex.lockSync({ timeout: 0 }), { code: 'DEADLINE_EXCEEDED' })
    await assert.rejects(mutex.lock({ timeout: 0 }), { code: 'DEADLINE_EXCEEDED' })
    await thread.run('kept.held.release()')
    ;(await mutex.lock({ timeout: 60_000 })).release()
  })

test('a signal is an AbortSignal, also while the lock is free', async () => {
  const mutex = shared.mutex('signals')
  const refused = { code: 'SHARED_INVALID', message: /invalid signal/ }
  for (const signal of [{}, 'abort', null] as never[]) await assert.rejects(mutex.lock({ signal }), refused)
  const held = await mutex.lock({ signal: new AbortController().signal })
  await assert.rejects(mutex.lock({ signal: {} as never }), refused)
  held.release()
  // No refused call waits for it.
  mutex.tryLock()!.release()
})

test('a timeout is a number, and one of weeks does not end at once', async () => {
  const mutex = shared.mutex('limits')
  for (const timeout of [NaN, '50', null] as never[]) {
    assert.throws(() => mutex.lockSync({ timeout }), { code: 'SHARED_INVALID' })
    await assert.rejects(mutex.lock({ timeout }), { code: 'SHARED_INVALID' })
  }
  for (const timeout of [Infinity, 2 ** 31]) {
    await using thread = new CodeThread()
    await thread.run("kept.held = await shared.mutex('limits').lock()")
    const waiting = mutex.lock({ timeout })
    await assert.rejects(mutex.lock({ timeout: 20 }), { code: 'DEADLINE_EXCEEDED' })
    await thread.run('kept.held.release()')
    ;(await waiting).release()
  }
})

test('a signal ends one wait for a lock, and others continue', async () => {
  const mutex = shared.mutex('signal')
  const held = await mutex.lock()
  const controller = new AbortController()
  const given = mutex.lock({ signal: controller.signal })
  const waiting = mutex.lock()
  const reason = new Error('changed my mind')
  controller.abort(reason)
  await assert.rejects(given, { code: 'CALL_ABORTED', cause: reason })
  await assert.rejects(mutex.lock({ signal: controller.signal }), { code: 'CALL_ABORTED' })
  held.release()
  ;(await waiting).release()
})

test('lockSync() refuses a lock that the same thread holds', async () => {
  using _ = await shared.mutex('self').lock()
  assert.throws(() => shared.mutex('self').lockSync(), { code: 'SHARED_INVALID', message: /would block for ever/ })
})

for (const [death, die] of [
  ['is terminated', undefined],
  ['exits', 'process.exit()'],
  ['throws', "queueMicrotask(() => { throw new Error('ends the thread') })"],
] as const)
  test(`when a thread that holds a lock ${death}, the next holder gets it as abandoned`, async () => {
    await using thread = new CodeThread()
    const mutex = shared.mutex('dies')
    await thread.run("kept.held = await shared.mutex('dies').lock()")
    const waiting = mutex.lock()
    if (death === 'throws') thread.worker.once('error', () => {})
    if (die === undefined) await thread.worker.terminate()
    else void thread.run(die).catch(() => {})
    const held = await waiting
    assert.equal(held.abandoned, true)
    held.release()
    using next = await mutex.lock()
    assert.equal(next.abandoned, false)
  })

test('a thread that is blocked when the holder dies gets the lock', async () => {
  await using holder = new CodeThread()
  await using waiter = new CodeThread()
  await holder.run("kept.held = await shared.mutex('blocked').lock()")
  const waiting = waiter.run(`
    shared.atomic('blocked').store(1)
    return shared.mutex('blocked').lockSync().abandoned`)
  await untilAtomic('blocked', 1)
  await holder.worker.terminate()
  assert.equal(await waiting, true)
})

test(
  'a thread that is blocked gets the lock of a thread that it started itself, whose end it cannot hear of',
  { skip: process.platform === 'linux' ? false : 'only Linux tells which threads there are' },
  async () => {
    await using thread = new CodeThread()
    await thread.run(`
      const mutex = shared.mutex('deaf')
      mutex.lockSync().release()
      process.nextTick(() => {})
      kept.held = mutex.tryLock()
      setTimeout(() => process.exit(), 20)`)
    assert.equal(shared.mutex('deaf').lockSync({ timeout: 20_000 }).abandoned, true)
  },
)

test('a thread that dies while waiting does not delay others', async () => {
  const mutex = shared.mutex('dead waiter')
  const held = await mutex.lock()
  const threads = Array.from({ length: 3 }, () => new CodeThread())
  for (const [index, thread] of threads.entries())
    void thread
      .run(`const waiting = shared.mutex('dead waiter').lock(); shared.atomic('dead waiter').add(1); await waiting`)
      .catch(() => index)
  await untilAtomic('dead waiter', 3)
  await Promise.all(threads.map((thread) => thread.worker.terminate()))
  held.release()
  assert.equal((await mutex.lock()).abandoned, false)
})

test('a thread that blocks after requesting a lock does not delay others', async () => {
  const mutex = shared.mutex('busy waiter')
  const held = await mutex.lock()
  await using busy = new CodeThread()
  const waiting = busy.run(`
    const waiting = shared.mutex('busy waiter').lock()
    shared.atomic('busy waiter').store(1)
    const cells = new Int32Array(new SharedArrayBuffer(4))
    while (shared.atomic('busy waiter').load() !== 2) Atomics.wait(cells, 0, 0, 1)
    const { abandoned } = await waiting
    return abandoned`)
  await untilAtomic('busy waiter', 1)
  await using other = new CodeThread()
  const turn = other.run("shared.mutex('busy waiter').lockSync().release()")
  held.release()
  await turn
  shared.atomic('busy waiter').store(2)
  assert.equal(await waiting, false)
})

test('a thread that acquires a lock repeatedly does not starve others', async () => {
  await using greedy = new CodeThread()
  const taking = greedy.run(`
    const [mutex, stop] = [shared.mutex('greedy'), shared.atomic('greedy')]
    stop.store(1)
    while (stop.load() === 1) mutex.lockSync().release()`)
  await untilAtomic('greedy', 1)
  for (let at = 0; at < 50; at++) (await shared.mutex('greedy').lock()).release()
  shared.atomic('greedy').store(0)
  await taking
})
