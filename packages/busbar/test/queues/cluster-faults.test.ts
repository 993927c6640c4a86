/** Nothing that a cluster has enqueued is lost, however hosts and servers end. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FaultProxy } from '../hosts/support/fault-proxy.ts'
import { NatsCluster, NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { QueueApp, QueueProcess, quick } from './support.ts'

const faultsOfOne: Record<string, Record<'begin' | 'end', (server: NatsServer) => Promise<void> | void>> = {
  killed: { begin: (server) => server.kill(), end: (server) => server.start() },
  frozen: { begin: (server) => server.freeze(), end: (server) => server.thaw() },
}

describe('the queue of a cluster', { skip: withoutNats }, () => {
  const configOf = (port: number, queues: object = quick): object => ({
    queues,
    cluster: { nats: `nats://127.0.0.1:${port}`, name: 'shop' },
    stopTimeout: 500,
  })

  it('gives items of a host that is killed to another one, and counts their attempts', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using dies = new QueueProcess(configOf(nats.port))
    await dies.start()
    await dies.enqueue('slow', 'deep', 's')
    await dies.busbar.message('slow deep begins')
    await using lives = await QueueApp.start(configOf(nats.port))
    await dies.kill()
    await lives.untilLogged('slow deep begins')
    await lives.mail.release()
    await lives.untilLogged('slow deep ends')
    await pollUntil(() => lives.counts.running === 0 && lives.counts.waiting === 0)
  })

  it('makes an item that kills its host each time a dead letter', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using app = new QueueProcess(configOf(nats.port, { ...quick, attempts: 2 }))
    await app.start()
    await app.enqueue('slow', 'x', 'poison')
    for (let attempt = 1; attempt <= 2; attempt++) {
      await app.busbar.message('slow x begins')
      await app.kill()
      await app.start()
    }
    await app.busbar.message('is a dead letter after 2 attempts: WORKER_DIED')
  })

  it('loses nothing when its app is killed while it enqueues and runs', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using app = new QueueProcess(configOf(nats.port, { ...quick, concurrency: 4 }))
    const file = app.folder.at('sent')
    const accepted = new Set<string>()
    for (let round = 0; round < 3; round++) {
      await app.start()
      const most = accepted.size + 60
      const load = Array.from({ length: 8 }, async (_, lane) => {
        for (let item = 0; accepted.size < most; item++) {
          const id = `${round}-${lane}-${item}`
          const added = await app.enqueue('send', { to: id, file }, id).catch(() => undefined)
          if (added === undefined) return
          accepted.add(id)
        }
      })
      await pollUntil(() => accepted.size >= most - 20)
      await app.kill()
      await Promise.all(load)
    }
    await app.start()
    const missing = (): string[] => {
      const sent = new Set(app.folder.read('sent').split('\n'))
      return [...accepted].filter((id) => !sent.has(id))
    }
    await pollUntil(() => missing().length === 0, missing)
  })

  it('goes on when its server was restarted; an item says if it was not kept', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using app = await QueueApp.start(configOf(nats.port, { ...quick, concurrency: 1 }))
    await app.mail.slow.enqueue('one')
    await app.mail.slow.enqueue('two')
    await app.untilLogged('slow one begins')
    await nats.kill()
    await app.mail.release()
    await app.untilLogged('slow one ends')
    const adding = app.mail.send.enqueue({ to: 'ada' }, { id: 'a' }).catch((error: unknown) => error)
    await nats.start()
    // It waits for the server, or failed with the connection.
    const added = await adding
    if (added instanceof Error) assert.equal((added as Error & { code: string }).code, 'QUEUE_UNAVAILABLE')
    await app.mail.send.enqueue({ to: 'ada' }, { id: 'a' })
    await app.untilLogged('slow two ends')
    await app.untilLogged('sent ada')
    await pollUntil(() => app.counts.waiting === 0 && app.counts.running === 0)
    // Its outcome was kept until the server was back.
    assert.equal(app.logged('slow one begins').length, 1)
    assert.equal(app.logged('sent ada').length, 1)
  })

  it('does not run an item twice at a host that was cut off for a while', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using proxy = await FaultProxy.open(nats.port)
    await using app = await QueueApp.start(configOf(proxy.port))
    await app.mail.slow.enqueue('one')
    await app.untilLogged('slow one begins')
    proxy.cut()
    await app.untilLogged('is connected again')
    await app.mail.send.enqueue({ to: 'ada' })
    await app.untilLogged('sent ada')
    await app.mail.release()
    await pollUntil(() => app.counts.waiting === 0 && app.counts.running === 0)
    assert.equal(app.logged('slow one begins').length, 1)
  })

  it('does not run a completed item again when a host that was paused with it goes on', async () => {
    await using nats = await NatsServer.startWithJetStream()
    const queues = (timeout: string) => ({ ...quick, methods: { 'mail.slow': { concurrency: 2, timeout } } })
    await using pauses = new QueueProcess(configOf(nats.port, queues('3s')))
    await pauses.start()
    await pauses.enqueue('slow', 'deep', 's')
    await pauses.busbar.message('slow deep begins')
    pauses.busbar.child.kill('SIGSTOP')
    await using lives = await QueueApp.start(configOf(nats.port, queues('5m')))
    // This one may wait in the socket of the paused host.
    await lives.mail.slow.enqueue('other')
    await lives.mail.release()
    await lives.untilLogged('slow deep ends')
    await lives.untilLogged('slow other ends')
    pauses.busbar.child.kill('SIGCONT')
    await pauses.busbar.until(() => /attempt 1 at s has failed|the outcome of s is not kept/.test(pauses.output))
    await lives.mail.send.enqueue({ to: 'ada' })
    await pollUntil(() => /sent ada/.test(pauses.output + lives.lines.join('\n')))
    await pollUntil(() => lives.counts.running === 0 && lives.counts.waiting === 0)
    const begun = (name: string): number[] =>
      [pauses.output.split('\n'), lives.lines].map((all) => all.filter((line) => line.includes(name)).length)
    assert.deepEqual(begun('slow deep begins'), [1, 1])
    assert.deepEqual(begun('slow other begins'), [0, 1])
  })

  it('runs an item once more when its host ends after it has put it off, and before it says so', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using proxy = await FaultProxy.open(nats.port)
    await using ends = await QueueApp.start(configOf(proxy.port))
    proxy.freezeAfter = 'queue.later.mail'
    await ends.mail.flaky.enqueue({ failures: 1 })
    await pollUntil(() => proxy.isFrozen)
    proxy.halfOpen()
    await using lives = await QueueApp.start(configOf(nats.port))
    await lives.untilLogged('done at 2')
    await pollUntil(() => lives.counts.running === 0 && lives.counts.waiting === 0)
    assert.equal(ends.logged('fails at 1').length, 1)
    assert.equal(lives.logged('done at').length, 1)
  })

  for (const [how, faults] of Object.entries(faultsOfOne))
    it(`loses nothing when one of three servers is ${how} under load, and comes back`, async () => {
      await using nats = await NatsCluster.start()
      const cluster = { nats: nats.addresses, name: 'shop', replicas: 3 }
      await using app = await QueueApp.start({ queues: quick, cluster })
      const ids = Array.from({ length: 60 }, (_, at) => `item-${at}`)
      for (const [at, id] of ids.entries()) {
        if (at === 20) await faults.begin(nats.servers[0]!)
        if (at === 40) await faults.end(nats.servers[0]!)
        // One that was not accepted is enqueued again, with the same id.
        while ((await app.mail.send.enqueue({ to: id }, { id }).catch(() => undefined)) === undefined);
      }
      const missing = (): string[] => ids.filter((id) => app.logged(`sent ${id} `).length === 0)
      await pollUntil(() => missing().length === 0, missing)
    })

  it('goes on without the items when its server comes back without data', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using app = await QueueApp.start(configOf(nats.port))
    await app.mail.send.enqueue({ to: 'lost' }, { delay: 3_600_000 })
    await app.mail.send.enqueue({ to: 'ada' }, { id: 'a' })
    await app.untilLogged('sent ada')
    await nats.kill()
    nats.loseData()
    await nats.start()
    await app.untilLogged('is connected again')
    // Its id is forgotten, too.
    while ((await app.mail.send.enqueue({ to: 'bob' }, { id: 'a' }).catch(() => undefined)) === undefined);
    await app.untilLogged('sent bob')
    await pollUntil(() => app.counts.waiting === 0)
  })

  it('says what is missing if the server has no JetStream', async () => {
    await using nats = await NatsServer.start()
    await using app = await QueueApp.start(configOf(nats.port))
    await app.untilLogged(/JetStream cannot be used/)
    await assert.rejects(app.mail.slow.enqueue('x'), { code: 'QUEUE_UNAVAILABLE', message: /JetStream cannot be used/ })
  })

  it('says in busbar queue why its items cannot be listed', async () => {
    await using nats = await NatsServer.start()
    await using app = new QueueProcess(configOf(nats.port))
    await app.start()
    const { code, stderr } = await app.queue()
    assert.equal(code, 1)
    assert.match(stderr, /JetStream cannot be used.*\(QUEUE_UNAVAILABLE\)/)
  })

  it('is unavailable to busbar queue and to check --live while most of its servers are down', async () => {
    await using nats = await NatsCluster.start()
    const cluster = { nats: nats.addresses, name: 'shop', replicas: 3 }
    await using app = new QueueProcess({ queues: quick, cluster })
    await app.start()
    const well = await app.checkLive()
    assert.equal(well.code, 0, well.stdout + well.stderr)
    await Promise.all(nats.servers.slice(1).map((server) => server.kill()))
    // A server that leads all streams answers looks until it notices that it has no majority.
    while ((await app.queue()).code === 0);
    for (const words of [[], ['drop', 'all'], ['retry', '1']]) {
      const { code, stderr } = await app.queue(...words)
      assert.equal(code, 1)
      assert.match(stderr, /QUEUE_UNAVAILABLE/)
    }
    const live = await app.checkLive()
    assert.equal(live.code, 1, live.stdout + live.stderr)
    assert.match(live.stdout, /the queue of the cluster cannot be/)
  })
})
