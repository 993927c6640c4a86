/** Items name the contract that they were enqueued with, and go to instances that have it. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { jetstream } from '@nats-io/jetstream'
import { contractOf } from '../../src/contract/method-contract.ts'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { mail as one } from './programs/versions/one/contract.ts'
import { mail as two } from './programs/versions/two/contract.ts'
import { programs, QueueApp, QueueProcess, quick } from './support.ts'

/** An app that has this version of `mail`. */
function configOf(version: 'one' | 'two', rest: object = {}, limits: object = {}): object {
  const services = { mail: { path: `${programs}/versions/${version}`, ...limits }, orders: `${programs}/orders` }
  return { gateway: { port: 0, routes: { '/mail': 'mail' } }, services, queues: quick, ...rest }
}

/** What was run there: the ids of items, which end with a semicolon. */
function ranAt(version: 'one' | 'two', output: string): string[] {
  return Array.from(output.matchAll(new RegExp(`${version}: (\\S+;) at`, 'g')), ([, id]) => id!)
}

function idsOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at};`).toSorted()
}

/** A worker that is replaced may break a connection off. */
async function again(enqueue: () => Promise<unknown>): Promise<void> {
  await enqueue().catch(enqueue)
}

async function load(app: QueueProcess, prefix: string, count: number): Promise<void> {
  const url = new URL('/mail/load', await app.busbar.url())
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ prefix, count }) })
  assert.ok(response.ok, await response.text())
}

describe('items in a cluster with two versions of a service', { skip: withoutNats }, () => {
  let nats: NatsServer
  let clusters = 0

  before(async () => (nats = await NatsServer.startWithJetStream()))
  after(() => nats[Symbol.asyncDispose]())

  const newCluster = () => ({ nats: `nats://127.0.0.1:${nats.port}`, name: `shop${clusters++}` })

  it('run once, at hosts of their version only while one lives, and at the others after that', async () => {
    const cluster = newCluster()
    await using first = await QueueApp.start(configOf('one', { cluster }))
    await using second = new QueueProcess(configOf('two', { cluster }))
    await second.start()
    const here = (): string[] => ranAt('one', first.lines.join('\n'))
    const there = (): string[] => ranAt('two', second.output)
    const rest = first.app.client(one)
    await Promise.all([rest.load({ prefix: 'a', count: 150 }), load(second, 'b', 150)])
    await pollUntil(() => here().length + there().length >= 300)
    assert.deepEqual(here().toSorted(), idsOf('a', 150))
    assert.deepEqual(there().toSorted(), idsOf('b', 150))
    assert.equal(second.output.match(/two: b\S+ at 1 .*note/g)?.length, 150)
    assert.deepEqual([first.counts.failures, first.counts.attempts], [0, 150])
    await second.kill()
    const post = first.app.client(two)
    await Promise.all(idsOf('c', 20).map((id) => post.send.enqueue({ id, note: 'c' })))
    await rest.load({ prefix: 'd', count: 20 })
    await pollUntil(() => here().length >= 190)
    await pollUntil(() => first.counts.waiting === 0 && first.counts.running === 0)
    assert.deepEqual(here().toSorted(), [...idsOf('a', 150), ...idsOf('c', 20), ...idsOf('d', 20)])
    assert.deepEqual(
      first.logged(/one: c/).filter((line) => !line.includes('at 1')),
      [],
    )
    assert.deepEqual([first.counts.failures, first.counts.attempts, first.counts.dead], [0, 190, 0])
  })

  it('of a method that one version has run there at once, and are dead letters when no host has it', async () => {
    const cluster = newCluster()
    const queues = { ...quick, attempts: 1 }
    await using first = await QueueApp.start(configOf('one', { cluster, queues }))
    await using second = new QueueProcess(configOf('two', { cluster, queues }))
    await second.start()
    const [before, after] = [first.app.client(one), first.app.client(two)]
    for (const id of idsOf('j', 30)) {
      await before.gone.enqueue({ id })
      await after.fresh.enqueue({ id })
      await after.bare.enqueue(undefined, { id: id.slice(0, -1) })
    }
    const there = (): string[] => ranAt('two', second.output)
    await pollUntil(() => ranAt('one', first.lines.join('\n')).length === 30 && there().length === 60)
    assert.deepEqual(there().toSorted(), [...idsOf('j', 30), ...idsOf('j', 30)].toSorted())
    assert.deepEqual([first.counts.failures, first.counts.dead], [0, 0])
    await second.kill()
    await after.fresh.enqueue({ id: 'k;' })
    await pollUntil(() => first.counts.dead === 1)
    assert.deepEqual([first.counts.failures, first.counts.waiting, first.counts.running], [1, 0, 0])
  })

  it('keep their contract while they wait, over retries, and as dead letters that are put back', async () => {
    const cluster = newCluster()
    const queues = { ...quick, attempts: 2 }
    await using first = await QueueApp.start(configOf('one', { cluster, queues }))
    await using second = new QueueProcess(configOf('two', { cluster, queues }))
    await second.start()
    const post = first.app.client(two)
    for (let at = 0; at < 8; at++)
      await post.send.enqueue({ id: `e${at};`, note: 'e', failures: 2 }, { delay: at * 50 })
    const there = (): string[] => ranAt('two', second.output)
    await pollUntil(() => there().length === 16 && first.counts.dead === 8)
    assert.match((await second.queue('retry', 'all')).stdout, /put back: 8 dead letters/)
    await pollUntil(() => there().length === 24 && first.counts.waiting === 0 && first.counts.running === 0)
    assert.deepEqual(there().toSorted(), [...idsOf('e', 8), ...idsOf('e', 8), ...idsOf('e', 8)].toSorted())
    assert.deepEqual(ranAt('one', first.lines.join('\n')), [])
  })

  it('wait for a host that says it runs them, stop no others, and are attempted when it is silent', async () => {
    const cluster = newCluster()
    const queues = { ...quick, attempts: 1, methods: { 'mail.send': { concurrency: 1 } } }
    await using app = await QueueApp.start(configOf('one', { cluster, queues }))
    await using silent = await nats.connect()
    const version = `mail.send ${contractOf(two.methods.send)}`
    const subject = `busbar.${cluster.name}.queue.versions`
    const said = JSON.stringify(['other', 'runs', [version]])
    const timer = setInterval(() => silent.publish(subject, said), 1_000)
    silent.publish(subject, said)
    await silent.flush()
    const post = app.app.client(two)
    await Promise.all(idsOf('f', 30).map((id) => post.send.enqueue({ id, note: 'f' })))
    for (let round = 0; round < 9; round++) {
      await app.app.client(one).load({ prefix: `g${round}-`, count: 5 })
      await pollUntil(() => app.logged(`one: g${round}-`).length === 5)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
    assert.deepEqual(app.logged(/one: f/), [])
    clearInterval(timer)
    await pollUntil(() => app.logged(/one: f\d+; at 1/).length === 30)
    assert.deepEqual([app.counts.failures, app.counts.attempts, app.counts.dead], [0, 75, 0])
  })

  it('run once when a host has left them to another one, and ended before it took them off', async () => {
    const cluster = newCluster()
    await using app = await QueueApp.start(configOf('two', { cluster }))
    await app.app.client(two).send.enqueue({ id: 'first;' })
    await app.untilLogged('two: first;')
    await app.stop()
    const services = { orders: `${programs}/orders`, mail: { remote: 'cluster' } }
    await using shop = await QueueApp.start({ gateway: { port: 0 }, services, queues: quick, cluster })
    await shop.app.client(two).send.enqueue({ id: 'once;', note: 'o' })
    await using ends = await nats.connect()
    const names = `busbar_${cluster.name}_queue_`
    const consumer = await jetstream(ends).consumers.get(`${names}ready`, 'mail=send')
    const { seq, data, subject } = (await consumer.next())!
    const { added } = JSON.parse(Buffer.from(data).toString().split('\n')[0]!) as { added: number }
    const later = subject.replace('.ready.', '.later.')
    await jetstream(ends).publish(later, data, { msgID: `${names}ready ${seq} ${added}` })
    const said = JSON.stringify(['ends', 'runs', ['mail.send other']])
    const timer = setInterval(() => ends.publish(`busbar.${cluster.name}.queue.versions`, said), 500)
    await app.start()
    await app.untilLogged('two: once;')
    await pollUntil(() => app.counts.waiting === 0 && app.counts.running === 0)
    clearInterval(timer)
    assert.equal(app.logged('two: once;').length, 1)
  })

  it('are attempted by any host if they name no contract, or one that no host has', async () => {
    const cluster = newCluster()
    await using app = await QueueApp.start(configOf('one', { cluster }))
    await app.app.client(two).send.enqueue({ id: 'h;', note: 'h' })
    await pollUntil(() => app.logged('one: h; at 1').length === 1)
  })
})

describe('items of an app of its own', () => {
  for (const [what, limits] of [
    ['without a limit', {}],
    ['with a limit', { run: 'process', concurrency: 1 }],
  ] as const)
    it(`go to the generation that has their contract while two of them serve, else to any, ${what}`, async () => {
      const trial = { window: 8_000, calls: 1_000_000 }
      await using app = await QueueApp.start(configOf('one', { trial }, limits))
      app.configure(configOf('two', { trial }, limits))
      let isOver = false
      const reloading = app.app.reload().finally(() => (isOver = true))
      // The end of a test that has failed rejects it, too.
      reloading.catch(() => {})
      const enqueueBoth = async (at: string): Promise<void> => {
        const [before, after] = [app.app.client(one), app.app.client(two)]
        await again(() => before.send.enqueue({ id: `one${at};` }, { id: `one${at}` }))
        await again(() => after.send.enqueue({ id: `two${at};`, note: at }, { id: `two${at}` }))
        if (at.startsWith('both')) await again(() => before.gone.enqueue({ id: `gone${at};` }, { id: `gone${at}` }))
        if (at.startsWith('both')) await again(() => after.fresh.enqueue({ id: `fresh${at};` }, { id: `fresh${at}` }))
        await pollUntil(() => app.logged(new RegExp(`: (one|two)${at};`)).length === 2)
      }
      // Until the new one has started, the old one runs all.
      for (let at = 0; app.logged('two: two').length === 0; at++) await enqueueBoth(`first${at}`)
      let both = 0
      for (; !isOver && both < 20; both++) await enqueueBoth(`both${both}`)
      // The old one may have ended in the last round.
      if (isOver) both--
      assert.ok(both > 0)
      for (let at = 0; at < both; at++) {
        assert.equal(app.logged(`one: oneboth${at};`).length, 1)
        assert.match(app.logged(`two: twoboth${at};`).join(), /"note"/)
        await pollUntil(
          () => app.logged(`one: goneboth${at};`).length + app.logged(`two: freshboth${at};`).length === 2,
        )
      }
      await reloading
      await enqueueBoth('last')
      assert.equal(app.logged(/two: (one|two)last;/).length, 2)
    })

  it('are run from a file of a version that knew no contracts; the file keeps the form that it can read', async () => {
    await using app = await QueueApp.start(configOf('one'))
    await app.app.client(one).send.enqueue({ id: 'i;' }, { delay: 3_600_000 })
    await app.stop()
    const database = new DatabaseSync(app.folder.at('.busbar', 'queue.sqlite'))
    const { origin } = database.prepare('SELECT origin FROM items').get() as { origin: string }
    const { contract, ...known } = JSON.parse(origin) as { contract?: string }
    assert.equal(contract, contractOf(one.methods.send))
    assert.deepEqual(database.prepare('PRAGMA user_version').get(), { __proto__: null, user_version: 1 })
    database.prepare('UPDATE items SET due = 0, origin = ?').run(JSON.stringify(known))
    database.close()
    await app.start()
    await app.untilLogged('one: i; at 1')
  })
})
