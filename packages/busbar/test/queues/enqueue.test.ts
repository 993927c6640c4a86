/** What is enqueued runs at least once, wherever the method runs and whoever enqueues it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pollUntil } from '../support/app/test-app.ts'
import { QueueApp, quick } from './support.ts'

for (const run of ['shared', 'thread', 'process'] as const)
  test(`an item of a service runs with its id, its attempt, its caller and its metadata (${run})`, async () => {
    await using app = await QueueApp.start(undefined, { run })
    const { id, duplicate } = await app.orders.place({ to: 'ada' })
    assert.equal(duplicate, false)
    const [line] = await app.untilLogged('sent ada')
    assert.match(line!, new RegExp(`sent ada {"id":"${id}","attempt":1,"enqueuedAt":\\d+} true bigint orders order`))
    await pollUntil(() => app.counts.running === 0)
    const { enqueued, attempts, failures, waiting, dead } = app.counts
    assert.deepEqual([enqueued, attempts, failures, waiting, dead], [1, 1, 0, 0, 0])
  })

test('the process that has started the app enqueues, too; a direct call has no delivery', async () => {
  await using app = await QueueApp.start()
  const { id } = await app.mail.send.enqueue({ to: 'bob', at: new Date(0) }, { id: 'order-7' })
  assert.equal(id, 'order-7')
  const [line] = await app.untilLogged('sent bob')
  assert.match(line!, /"id":"order-7","attempt":1.* true undefined nobody none/)
  assert.equal(await app.mail.ping(), true)
})

test('an id is taken once within the window, for each method', async () => {
  await using app = await QueueApp.start()
  assert.equal((await app.orders.place({ to: 'ada', id: 'a' })).duplicate, false)
  assert.equal((await app.orders.place({ to: 'ada', id: 'a' })).duplicate, true)
  assert.equal((await app.mail.flaky.enqueue({ failures: 0 }, { id: 'a' })).duplicate, false)
  await app.untilLogged('flaky a done')
  await app.untilLogged('sent ada')
  assert.equal(app.logged('sent ada').length, 1)
  assert.equal(app.counts.duplicates, 1)
})

test('settings of a method that the contract does not have are warned of, with the nearest name', async () => {
  await using app = await QueueApp.start({ queues: { ...quick, methods: { 'mail.sned': { attempts: 2 } } } })
  const [line] = await app.untilLogged('queues.methods names')
  assert.match(line!, /queues\.methods names mail\.sned, which its contract does not have; the nearest is mail\.send/)
})

test('without a window, an id is no limit', async () => {
  await using app = await QueueApp.start({ queues: { ...quick, window: 0 } })
  for (let time = 0; time < 2; time++) await app.orders.place({ to: 'ada', id: 'a' })
  await app.untilLogged('sent ada', 2)
})

test('an attempt that fails is followed by another one', async () => {
  await using app = await QueueApp.start()
  await app.mail.flaky.enqueue({ failures: 2 }, { id: 'f' })
  await app.untilLogged('flaky f done at 3')
  await pollUntil(() => app.counts.running === 0)
  assert.deepEqual([app.counts.attempts, app.counts.failures, app.counts.dead], [3, 2, 0])
})

test('a delayed item waits', async () => {
  await using app = await QueueApp.start()
  const began = Date.now()
  await app.mail.send.enqueue({ to: 'late' }, { delay: 300 })
  await app.mail.send.enqueue({ to: 'early' })
  await app.untilLogged('sent early')
  await app.untilLogged('sent late')
  assert.ok(Date.now() - began >= 300)
})

test('what cannot be enqueued is refused with a typed error', async () => {
  await using app = await QueueApp.start({ queues: { ...quick, maxDepth: 1, concurrency: 1 } })
  const { flaky, slow, send } = app.mail
  await assert.rejects(flaky.enqueue({ failures: 'two' } as never), { code: 'INPUT_INVALID' })
  for (const id of ['', '\ud800']) await assert.rejects(slow.enqueue('x', { id }), { code: 'INPUT_INVALID' })
  await assert.rejects(slow.enqueue('x', { delay: -1 }), { code: 'INPUT_INVALID' })
  await assert.rejects(slow.enqueue('x'.repeat(2 ** 20)), { code: 'INPUT_INVALID' })
  await slow.enqueue('one')
  await assert.rejects(send.enqueue({ to: 'ada' }), { code: 'QUEUE_FULL', message: /queues\.maxDepth/ })
  await assert.rejects(app.orders.place({ to: 'ada' }), { code: 'QUEUE_FULL' })
  await app.mail.release()
  await app.untilLogged('slow one ends')
})

test('the size of an item is that of its input and its metadata, in bytes', async () => {
  await using app = await QueueApp.start({ queues: { ...quick, maxSize: 2_000 } })
  const { send } = app.mail
  const refused = { code: 'QUEUE_FULL', message: /with it, its items have \d+ bytes, and queues\.maxSize is 2000/ }
  await assert.rejects(send.enqueue({ to: 'a' }, { metadata: { 'x-a': 'b'.repeat(2_000) } }), refused)
  await assert.rejects(send.enqueue({ to: '\u20ac'.repeat(700) }), refused)
  await send.enqueue({ to: 'c'.repeat(700) })
  await app.untilLogged('sent ccc')
})

test('an app without a queue says how to get one', async () => {
  await using app = await QueueApp.start({})
  await assert.rejects(app.mail.slow.enqueue('x'), { code: 'QUEUE_UNAVAILABLE' })
  await assert.rejects(app.orders.place({ to: 'ada' }), { code: 'QUEUE_UNAVAILABLE', message: /this app has no queue/ })
})

test('a method runs as often at a time as its concurrency says', async () => {
  await using app = await QueueApp.start({ queues: { ...quick, methods: { 'mail.slow': { concurrency: 2 } } } })
  for (const name of ['a', 'b', 'c']) await app.mail.slow.enqueue(name)
  await app.untilLogged(/slow . begins/, 2)
  await pollUntil(() => app.counts.waiting === 1 && app.counts.running === 2)
  await app.mail.release()
  await app.untilLogged(/slow . ends/, 3)
})
