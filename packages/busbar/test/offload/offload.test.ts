import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarError } from '../../src/contract/errors.ts'
import { createOffload, type Offload, type OffloadOptions } from '../../src/offload/offload.ts'
import { hold } from './hold.ts'

const program = (name: string): URL => new URL(`programs/${name}.js`, import.meta.url)
const task = program('task')

test('a module runs in another thread, which loads it once', async () => {
  await using offload = createOffload({ threads: 1 })
  const [one, other] = [await offload<number>(task, { do: 'thread' }), await offload<number>(task, { do: 'thread' })]
  assert.ok(one > 0)
  assert.equal(one, other)
  assert.equal(await offload(task.href, { do: 'loaded' }), 1)
  assert.equal(await offload(new URL(task).pathname, { do: 'loaded' }), 1)
})

test('a task does not see the workerData of its thread', async () => {
  await using offload = createOffload({ threads: 1 })
  assert.equal(await offload(task, { do: 'data' }), null)
})

test('values cross as structured clones', async () => {
  await using offload = createOffload({ threads: 1 })
  const value = {
    big: 2n ** 80n,
    when: new Date(3),
    map: new Map([[1, new Set(['a'])]]),
    bytes: new Uint8Array([1, 2]),
  }
  assert.deepEqual(await offload(task, { do: 'echo', value }), value)
  assert.equal(await offload(task, { do: 'echo' }), undefined)
})

test('a task’s error arrives with its name, message, code, cause and the stack of its thread', async () => {
  await using offload = createOffload({ threads: 1 })
  const thrown = async (kind: string): Promise<unknown> => {
    try {
      return await offload(task, { do: 'throws', kind })
    } catch (error) {
      return error
    }
  }
  const type = (await thrown('type')) as Error
  assert.ok(type instanceof TypeError)
  assert.equal(type.message, 'no such thing')
  assert.match(type.stack!, /programs\/task\.js:\d+.*\n    in a thread of offload\(\)$/s)
  assert.equal((type.cause as Error).message, 'deeper')
  const code = (await thrown('code')) as NodeJS.ErrnoException
  assert.deepEqual([code.name, code.message, code.code], ['OwnError', 'gone', 'ENOENT'])
  const busbar = (await thrown('busbar')) as BusbarError
  assert.ok(BusbarError.is(busbar, 'RESOURCE_EXHAUSTED'))
  assert.deepEqual([busbar.hint, busbar.data, busbar.status], ['later', { retryAfter: 3 }, 503])
  assert.equal(await thrown('text'), 'just a text')
})

for (const [what, module, message] of [
  ['a relative name', './task.ts', /was given ".\/task.ts" as the module of a task/],
  ['no name', undefined as unknown as string, /was given undefined/],
  ['a module without a default export', program('no-default'), /no-default.js has no default export/],
] as const)
  test(`${what} is refused`, async () => {
    await using offload = createOffload({ threads: 1 })
    await assert.rejects(offload(module), { code: 'TASK_INVALID', message })
  })

for (const options of [{ threads: 0 }, { threads: 1.5 }, { queue: 0 }, { grace: -1 }, { idle: Number.NaN }])
  test(`a pool with ${Object.entries(options)[0]!.join(': ')} is refused`, () => {
    assert.throws(() => createOffload(options), { code: 'TASK_INVALID', hint: /as an integer of at least [01]/ })
  })

test('a module that cannot be loaded fails the call with its error, and is loaded again the next time', async () => {
  await using offload = createOffload({ threads: 1 })
  for (let turn = 0; turn < 2; turn++) await assert.rejects(offload(program('throws')), { message: 'not today' })
  await assert.rejects(offload(program('missing')), { code: 'ERR_MODULE_NOT_FOUND' })
  assert.equal(await offload(task, { do: 'echo', value: 1 }), 1)
})

test('a value that cannot be cloned fails its call, not the thread', async () => {
  await using offload = createOffload({ threads: 1 })
  const before = await offload(task, { do: 'thread' })
  await assert.rejects(offload(task, { do: () => {} }), { code: 'TASK_INVALID', message: /the input of a task/ })
  await assert.rejects(offload(task, { do: 'uncloneable' }), { code: 'TASK_INVALID', message: /the result of a task/ })
  assert.equal(await offload(task, { do: 'thread' }), before)
})

test('buffers are transferred on request and copied otherwise; Node’s buffer pool never crosses', async () => {
  await using offload = createOffload({ threads: 1 })
  const [moved, copied] = [new Uint8Array(1000), new Uint8Array(1000)]
  await offload(task, { do: 'echo', value: moved }, { transfer: [moved.buffer] })
  await offload(task, { do: 'echo', value: copied })
  assert.deepEqual([moved.byteLength, copied.byteLength], [0, 1000])
  const large = await offload<ArrayBuffer>(task, { do: 'large', bytes: 1e6 })
  assert.deepEqual([large.byteLength, new Uint8Array(large)[999_999]], [1e6, 7])
  assert.equal(await offload(task, { do: 'bytesBehind', value: Buffer.from('eleven byte') }), 11)
  const pooled = await offload<Uint8Array>(task, { do: 'pooled' })
  assert.deepEqual([Buffer.from(pooled).toString(), pooled.buffer.byteLength], ['eleven byte', 11])
})

test('queued calls run by priority, and a full queue fails a call at once', async () => {
  await using offload = createOffload({ threads: 1, queue: 3 })
  const blocked = await hold(offload)
  const cells = new Int32Array(new SharedArrayBuffer(16))
  const waiting = [0, 5, 1].map((priority, index) =>
    offload(task, { do: 'log', cells, value: 10 + index }, { priority }),
  )
  await assert.rejects(offload(task, {}, { priority: 9 }), {
    code: 'RESOURCE_EXHAUSTED',
    message: 'the queue is full: 3 tasks wait for 1 thread',
  })
  blocked.release()
  await Promise.all([blocked.held, ...waiting])
  assert.deepEqual([...cells], [3, 11, 12, 10])
})

test('a signal is an AbortSignal', async () => {
  await using offload = createOffload({ threads: 1 })
  for (const signal of [{}, 'abort', null] as never[])
    await assert.rejects(offload(task, { do: 'echo', value: 1 }, { signal }), {
      code: 'TASK_INVALID',
      message: /signal/,
    })
  assert.equal(await offload(task, { do: 'echo', value: 2 }, { signal: new AbortController().signal }), 2)
})

test('a timeout is a number of milliseconds', async () => {
  await using offload = createOffload({ threads: 1 })
  for (const timeout of [NaN, '50', null] as never[])
    await assert.rejects(offload(task, {}, { timeout }), { code: 'TASK_INVALID', message: /timeout/ })
})

test('a queued call never starts after its timeout or its cancellation', async () => {
  await using offload = createOffload({ threads: 1 })
  const blocked = await hold(offload)
  const cells = new Int32Array(new SharedArrayBuffer(16))
  const late = offload(task, { do: 'log', cells, value: 1 }, { timeout: 10 })
  const controller = new AbortController()
  const given = offload(task, { do: 'log', cells, value: 2 }, { signal: controller.signal })
  controller.abort(new Error('enough'))
  await assert.rejects(given, { code: 'CALL_ABORTED', cause: new Error('enough') })
  await assert.rejects(late, { code: 'DEADLINE_EXCEEDED', message: /within 10 ms: it never started/ })
  await assert.rejects(offload(task, {}, { signal: controller.signal }), { code: 'CALL_ABORTED' })
  blocked.release()
  await blocked.held
  await offload(task, { do: 'log', cells, value: 3 })
  assert.deepEqual([...cells], [1, 3, 0, 0])
})

for (const [way, expected] of [
  ['awaits', 'stopped'],
  ['computes', 'stopped: DEADLINE_EXCEEDED'],
] as const)
  test(`the signal of a task aborts at its timeout, and its late result counts (it ${way})`, async () => {
    await using offload = createOffload({ threads: 1, grace: 60_000 })
    const thread = await offload(task, { do: 'thread' })
    assert.equal(await offload(task, { do: way }, { timeout: 20 }), expected)
    assert.equal(typeof (await offload(task, { do: 'thread' })), typeof thread)
  })

test('a task that throws when asked to stop fails by timeout, with its error as the cause', async () => {
  await using offload = createOffload({ threads: 1, grace: 60_000 })
  await offload(task, { do: 'echo' })
  const expected = { code: 'DEADLINE_EXCEEDED', message: /within 20 ms: it stopped when asked to/ }
  await assert.rejects(offload(task, { do: 'checks' }, { timeout: 20 }), (error: Error) => {
    assert.match(error.message, expected.message)
    return error.cause === undefined
  })
  await offload(task, { do: 'echo' })
  await assert.rejects(offload(task, { do: 'fails' }, { timeout: 20 }), {
    ...expected,
    cause: new RangeError('half-way'),
  })
})

test('a runaway task costs its call and its thread; queued calls run in the next one', async () => {
  await using offload = createOffload({ threads: 1, grace: 20 })
  const before = await offload(task, { do: 'thread' })
  const { runaway } = await runAway(offload, { timeout: 20 })
  const waiting = Promise.allSettled(Array.from({ length: 20 }, () => offload(task, { do: 'thread' })))
  await assert.rejects(runaway, {
    code: 'DEADLINE_EXCEEDED',
    message: /within 20 ms: it ran for another 20 ms after it was asked to stop, and was terminated/,
  })
  const threads = new Set((await waiting).map((one) => one.status === 'fulfilled' && one.value))
  assert.equal(threads.size, 1)
  assert.ok(!threads.has(before) && !threads.has(false))
})

test('cancelling a runaway task rejects at once, and its thread is replaced', async () => {
  await using offload = createOffload({ threads: 1, grace: 20 })
  const before = await offload(task, { do: 'thread' })
  const controller = new AbortController()
  const { runaway } = await runAway(offload, { signal: controller.signal })
  controller.abort()
  await assert.rejects(runaway, { code: 'CALL_ABORTED' })
  assert.notEqual(await offload(task, { do: 'thread' }), before)
})

/**
 * A runaway task that has begun. On a busy machine the time of a call may be over before its task
 * begins, and it is then not a runaway.
 */
async function runAway(offload: Offload, options: OffloadOptions): Promise<{ readonly runaway: Promise<unknown> }> {
  for (;;) {
    const cells = new Int32Array(new SharedArrayBuffer(4))
    const begun = Atomics.waitAsync(cells, 0, 0)
    const runaway = offload(task, { do: 'runaway', cells }, options)
    const failed = runaway.catch(() => 'failed')
    if ((await Promise.race([begun.value, failed])) === 'ok') return { runaway }
    // Nobody waits for it any more.
    Atomics.notify(cells, 0)
  }
}

for (const [way, message] of [
  ['exits', 'the thread of a task ended with code 3'],
  ['strays', 'the thread of a task died: went astray'],
] as const)
  test(`a thread that dies fails only its own task (it ${way})`, async () => {
    await using offload = createOffload({ threads: 1 })
    const dying = offload(task, { do: way })
    const waiting = offload(task, { do: 'echo', value: 1 })
    await assert.rejects(dying, { code: 'WORKER_DIED', message })
    assert.equal(await waiting, 1)
  })

test('a pool has no more threads than allowed and needed', async () => {
  await using offload = createOffload({ threads: 3 })
  const blocked = [await hold(offload), await hold(offload), await hold(offload)]
  const waiting = offload(task, { do: 'thread' })
  const raced = await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve, 'waits'))])
  assert.equal(raced, 'waits')
  for (const { release } of blocked) release()
  await Promise.all([waiting, ...blocked.map(({ held }) => held)])
  const used = new Set<unknown>()
  for (let at = 0; at < 10; at++) used.add(await offload(task, { do: 'thread' }))
  assert.equal(used.size, 1)
})

test('a closed pool finishes running tasks, and refuses others', async () => {
  const offload = createOffload({ threads: 1 })
  const blocked = await hold(offload)
  const waiting = offload(task, { do: 'echo' })
  const closing = offload.close()
  await assert.rejects(waiting, { code: 'CALL_ABORTED', message: 'the pool was closed' })
  await assert.rejects(offload(task, { do: 'echo' }), { code: 'CALL_ABORTED' })
  blocked.release()
  assert.equal(await blocked.held, 'held')
  await closing
  await offload.close()
})
