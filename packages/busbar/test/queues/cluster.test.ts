/** The queue of a cluster: streams of NATS, which all hosts share. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { QueueList } from '../../src/shared/queues.ts'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { programs, QueueApp, QueueProcess, quick } from './support.ts'

describe('the queue of a cluster', { skip: withoutNats }, () => {
  let nats: NatsServer
  let clusters = 0

  before(async () => (nats = await NatsServer.startWithJetStream()))
  after(() => nats[Symbol.asyncDispose]())

  /** Each test has a cluster of its own. */
  const newCluster = () => ({ nats: `nats://127.0.0.1:${nats.port}`, name: `shop${clusters++}` })
  const start = (queues: object = quick, cluster: object = newCluster()): Promise<QueueApp> =>
    QueueApp.start({ queues, cluster })

  it('runs an item with its id, its attempt, its caller and its metadata', async () => {
    await using app = await start()
    const { id, duplicate } = await app.orders.place({ to: 'ada' })
    assert.equal(duplicate, false)
    const [line] = await app.untilLogged('sent ada')
    assert.match(line!, new RegExp(`sent ada {"id":"${id}","attempt":1,"enqueuedAt":\\d+} true bigint orders order`))
    await pollUntil(() => app.counts.running === 0 && app.counts.waiting === 0)
    assert.deepEqual([app.counts.enqueued, app.counts.attempts, app.counts.failures], [1, 1, 0])
  })

  it('takes an id once within the window, for each method; without a window it is no limit', async () => {
    await using app = await start()
    assert.equal((await app.orders.place({ to: 'ada', id: 'a' })).duplicate, false)
    assert.equal((await app.orders.place({ to: 'ada', id: 'a' })).duplicate, true)
    assert.equal((await app.mail.flaky.enqueue({ failures: 0 }, { id: 'a' })).duplicate, false)
    await app.untilLogged('flaky a done')
    await app.untilLogged('sent ada')
    assert.equal(app.logged('sent ada').length, 1)
    assert.equal(app.counts.duplicates, 1)
    await using endless = await start({ ...quick, window: 0 })
    for (let time = 0; time < 2; time++) await endless.orders.place({ to: 'bob', id: 'a' })
    await endless.untilLogged('sent bob', 2)
  })

  it('attempts an item that fails again, and delays others', async () => {
    await using app = await start()
    const began = Date.now()
    await app.mail.send.enqueue({ to: 'late' }, { delay: 300 })
    await app.mail.flaky.enqueue({ failures: 2 }, { id: 'f' })
    await app.untilLogged('flaky f done at 3')
    await app.untilLogged('sent late')
    assert.ok(Date.now() - began >= 300)
    assert.deepEqual([app.counts.attempts, app.counts.failures], [4, 2])
    assert.match(app.logged('sent late')[0]!, /"attempt":1/)
  })

  it('runs a method as often at a time as its concurrency says, in all hosts together', async () => {
    const cluster = newCluster()
    const queues = { ...quick, methods: { 'mail.slow': { concurrency: 2 } } }
    await using first = await start(queues, cluster)
    await using second = await start(queues, cluster)
    for (const name of ['a', 'b', 'c']) await first.mail.slow.enqueue(name)
    const begun = (): number => [first, second].flatMap((app) => app.logged(/slow . begins/)).length
    await pollUntil(() => begun() === 2 && first.counts.waiting === 1 && second.counts.running === 2)
    for (const app of [first, second]) await app.mail.release()
    await pollUntil(() => begun() === 3)
  })

  it('does not let items that wait for their next attempt take the place of others', async () => {
    await using app = await start({ ...quick, backoff: 60_000, maxBackoff: 60_000, concurrency: 1 })
    await app.mail.flaky.enqueue({ failures: 1 }, { id: 'bad' })
    await app.mail.flaky.enqueue({ failures: 0 }, { id: 'good' })
    await app.untilLogged('flaky bad fails')
    await app.untilLogged('flaky good done')
  })

  it('refuses what does not fit, with a typed error', async () => {
    await using app = await start({ ...quick, maxDepth: 1, concurrency: 1 })
    await assert.rejects(app.mail.slow.enqueue('x'.repeat(2 ** 20 - 9)), { code: 'INPUT_INVALID' })
    await app.mail.slow.enqueue('one')
    await assert.rejects(app.mail.send.enqueue({ to: 'ada' }), { code: 'QUEUE_FULL', message: /queues\.maxDepth/ })
    await app.mail.release()
    await app.untilLogged('slow one ends')
    await using small = await start({ ...quick, maxSize: 2000 })
    await assert.rejects(small.mail.send.enqueue({ to: 'x'.repeat(3000) }), { code: 'QUEUE_FULL', message: /maxSize/ })
  })

  it('refuses items with a delay when enough of them wait; those it has stop nothing, and their first attempt is 1', async () => {
    await using app = await start({ ...quick, maxDepth: 3, concurrency: 1, attempts: 1 })
    const later = (to: string) => app.mail.send.enqueue({ to }, { delay: 2_000 })
    for (const to of ['ada', 'bob', 'eve']) await later(to)
    await assert.rejects(later('zoe'), { code: 'QUEUE_FULL', message: /queues\.maxDepth is 3, for items that wait/ })
    await app.mail.send.enqueue({ to: 'now' })
    await app.untilLogged('sent now')
    assert.deepEqual(app.logged(/sent (ada|bob|eve)/), [])
    for (const to of ['ada', 'bob', 'eve']) assert.match((await app.untilLogged(`sent ${to}`))[0]!, /"attempt":1/)
    assert.equal(app.counts.dead, 0)
  })

  it('runs an item whose delay is over before any host has looked at it, as its first attempt', async () => {
    await using app = await start({ ...quick, attempts: 1 })
    for (let at = 0; at < 20; at++) await app.mail.send.enqueue({ to: `${at}` }, { delay: 1 })
    for (const line of await app.untilLogged('sent', 20)) assert.match(line, /"attempt":1/)
    await pollUntil(() => app.counts.running === 0 && app.counts.waiting === 0)
    assert.deepEqual([app.counts.attempts, app.counts.dead], [20, 0])
  })

  it('runs all items with short delays that have filled the queue, though others are refused meanwhile', async () => {
    await using app = await start({ ...quick, maxDepth: 40, concurrency: 5, attempts: 1 })
    const accepted = async (at: number): Promise<void> => {
      for (;;)
        try {
          return void (await app.mail.send.enqueue({ to: `${at}` }, { id: `${at}`, delay: at % 21 }))
        } catch (error) {
          assert.equal((error as { code?: unknown }).code, 'QUEUE_FULL')
          await sleep(50)
        }
    }
    await Promise.all(Array.from({ length: 120 }, (_, at) => accepted(at)))
    for (const line of await app.untilLogged('sent', 120)) assert.match(line, /"attempt":1/)
    await pollUntil(() => app.counts.running === 0 && app.counts.waiting === 0)
    assert.deepEqual([app.counts.attempts, app.counts.dead], [120, 0])
  })

  it('tells ids apart that differ in white space only', async () => {
    await using app = await start()
    const ids = ['k', 'k ', ' k', 'k\t', 'k\u00a0', 'k\nx', 'k\r', '"k"', 'k"', 'é']
    for (const id of ids) assert.equal((await app.mail.flaky.enqueue({ failures: 0 }, { id })).duplicate, false, id)
    for (const id of ids) assert.equal((await app.mail.flaky.enqueue({ failures: 0 }, { id })).duplicate, true, id)
    await pollUntil(() => app.counts.waiting === 0 && app.counts.running === 0)
    assert.equal(app.counts.attempts, ids.length)
  })

  it('says which setting of the servers is too small for items', async () => {
    await using small = await NatsServer.startWithJetStream('max_payload: 8192')
    await using app = await start(quick, { nats: `nats://127.0.0.1:${small.port}`, name: 'small' })
    await assert.rejects(app.mail.send.enqueue({ to: 'ada' }), {
      code: 'QUEUE_UNAVAILABLE',
      message: /messages of 8192 bytes/,
    })
  })

  it('runs items at whichever host has the service; apps without it enqueue them, too', async () => {
    const cluster = newCluster()
    const common = { cluster, queues: quick }
    const services = { orders: `${programs}/orders`, mail: { remote: 'cluster' } }
    await using shop = await QueueApp.start({ ...common, services })
    assert.equal((await shop.orders.place({ to: 'ada' })).duplicate, false)
    await using post = await QueueApp.start({ ...common, gateway: { port: 0 }, services: { mail: `${programs}/mail` } })
    await post.untilLogged('sent ada')
    await shop.mail.send.enqueue({ to: 'bob' })
    await post.untilLogged('sent bob')
  })

  it('keeps dead letters with the reason; busbar queue lists them, puts them back or deletes them', async () => {
    await using app = new QueueProcess({ queues: { ...quick, attempts: 2 }, cluster: newCluster() })
    await app.start()
    assert.match((await app.queue()).stdout, /the queue is empty/)
    for (const id of ['a', 'b', 'c']) await app.enqueue('flaky', { failures: 3 }, id)
    await app.enqueue('flaky', { failures: 3, as: 'declared' }, 'gone')
    await app.busbar.until(() => app.output.split('is a dead letter').length === 5)
    assert.match(app.output, /is a dead letter after 1 attempt: GONE: mail\.flaky answered GONE/)
    const { queues, dead } = JSON.parse((await app.queue('--json')).stdout) as QueueList
    assert.deepEqual(queues, [{ service: 'mail', method: 'flaky', waiting: 0, running: 0, dead: 4 }])
    const { number, attempts, code, input } = dead.find(({ id }) => id === 'a')!
    assert.deepEqual([attempts, code, input], [2, 'INTERNAL', '{"failures":3}'])
    assert.match(
      (await app.queue()).stdout,
      /mail\.flaky +0 +0 +4\n[^]*mail\.flaky +a +2 .*INTERNAL: mail\.flaky failed/,
    )
    assert.match((await app.queue('drop', `${number}`)).stdout, /deleted: 1 dead letter\b/)
    assert.equal((await app.queue('drop', `${number}`)).code, 1)
    assert.match((await app.queue('retry', 'all')).stdout, /put back: 3 dead letters/)
    await app.busbar.until(() => app.output.split('is a dead letter').length === 8)
    assert.match((await app.queue('drop', 'all')).stdout, /deleted: 3 dead letters/)
    assert.equal(await app.stop(), 0)
  })

  it('keeps as many dead letters as the config says', async () => {
    await using app = await start({ ...quick, attempts: 1, keepDead: 2 })
    for (let item = 0; item < 4; item++) await app.mail.flaky.enqueue({ failures: 9 })
    await app.untilLogged('is a dead letter', 4)
    await pollUntil(() => app.counts.dead === 2)
  })

  it('runs what an app had in its file before it was in a cluster, and leaves its dead letters there', async () => {
    await using app = await QueueApp.start({ queues: quick })
    await app.mail.flaky.enqueue({ failures: 99 }, { id: 'dead' })
    await pollUntil(() => app.counts.dead === 1)
    await app.mail.send.enqueue({ to: 'a' }, { id: 'a', delay: 60_000 })
    await app.mail.send.enqueue({ to: 'b' }, { id: 'b', delay: 1_000 })
    await app.stop()
    // The second one of this id came when the window of the first was over.
    const database = new DatabaseSync(app.folder.at('.busbar', 'queue.sqlite'))
    database.exec(`UPDATE items SET id = 'a' WHERE id = 'b'`)
    database.close()
    app.configure({ queues: quick, cluster: newCluster() })
    await app.start()
    const [moved] = await app.untilLogged('are in the queue of the cluster now')
    assert.match(moved!, /queue: 2 items of .*queue\.sqlite/)
    assert.match((await app.untilLogged('stay in'))[0]!, /dead letters of before .* stay in .*queue\.sqlite: 1/)
    await app.untilLogged('sent b')
    await pollUntil(() => app.counts.waiting === 1)
    assert.equal(app.counts.dead, 0)
    await app.stop()
    await app.start()
    await app.untilLogged('stay in', 2)
    assert.equal(app.logged('are in the queue of the cluster now').length, 1)
  })

  it('attempts an input again that the schema of a host refuses: another host may have another version', async () => {
    const queues = { ...quick, attempts: 2 }
    await using app = await QueueApp.start({ queues })
    await app.mail.flaky.enqueue({ failures: 0 }, { id: 'old', delay: 3_600_000 })
    await app.stop()
    // As the other version would have written it.
    const database = new DatabaseSync(app.folder.at('.busbar', 'queue.sqlite'))
    database.exec(`UPDATE items SET due = 0, input = '{"failures":"two"}'`)
    database.close()
    app.configure({ queues, cluster: newCluster() })
    await app.start()
    await app.untilLogged(/item 1 is a dead letter after 2 attempts: INPUT_INVALID/)
  })
})
