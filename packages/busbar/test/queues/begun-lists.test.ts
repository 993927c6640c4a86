/** What hosts list as begun: whether an item goes on, runs once more, or is a dead letter. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { FaultProxy } from '../hosts/support/fault-proxy.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { QueueApp, QueueProcess, quick } from './support.ts'

const once = { ...quick, attempts: 1 }

function configOf(port: number, queues: object = once, user = ''): object {
  return { queues, cluster: { nats: `nats://${user}127.0.0.1:${port}`, name: 'shop' }, stopTimeout: 500 }
}

async function managed(nats: NatsServer, work: (manager: JetStreamManager) => Promise<void>): Promise<void> {
  const connection = await nats.connect()
  await work(await jetstreamManager(connection))
  await connection.close()
}

/** Until the server has kept a list, whose host may not know. */
async function untilListed(nats: NatsServer): Promise<void> {
  await managed(nats, async ({ streams }) => {
    while ((await streams.info('busbar_shop_queue_begun')).state.messages === 0);
  })
}

/** Until each item of `mail.slow` was delivered a second time. */
async function untilRedelivered(nats: NatsServer, items: number): Promise<void> {
  await managed(nats, async ({ consumers }) => {
    const info = () => consumers.info('busbar_shop_queue_ready', 'mail=slow')
    while ((await info()).delivered.consumer_seq < 2 * items) await new Promise((resolve) => setTimeout(resolve, 50))
  })
}

async function untilEmpty(apps: readonly QueueApp[]): Promise<void> {
  await pollUntil(
    () => apps.every(({ counts }) => counts.waiting === 0 && counts.running === 0),
    () => apps.flatMap(({ lines }) => lines),
  )
  for (const { counts } of apps) assert.equal(counts.dead, 0)
}

describe('the lists of what has begun', { skip: withoutNats }, () => {
  it('take back what a lost connection has listed and what did not begin', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using proxy = await FaultProxy.open(nats.port)
    await using cut = await QueueApp.start(configOf(proxy.port))
    proxy.freezeAfter = 'queue.begun.'
    // The answer to this may be frozen, too.
    cut.mail.send.enqueue({ to: 'ada' }, { id: 'a' }).catch(() => {})
    await pollUntil(() => proxy.isFrozen)
    await untilListed(nats)
    await using well = await QueueApp.start(configOf(nats.port))
    proxy.freezeAfter = undefined
    proxy.cut()
    proxy.thaw()
    await pollUntil(() => [cut, well].some((app) => app.logged('sent ada').length > 0))
    await untilEmpty([cut, well])
    assert.equal([cut, well].flatMap((app) => app.logged('sent ada')).length, 1)
  })

  it('show that an item goes on whose host was cut off for a moment', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using proxy = await FaultProxy.open(nats.port)
    await using cut = await QueueApp.start(configOf(proxy.port))
    const names = Array.from({ length: 6 }, (_, at) => `no${at}`)
    for (const name of names) await cut.mail.slow.enqueue(name)
    await cut.untilLogged(/slow no\d begins/, names.length)
    await using well = await QueueApp.start(configOf(nats.port))
    proxy.cut()
    await untilRedelivered(nats, names.length)
    await cut.mail.release()
    await cut.untilLogged(/slow no\d ends/, names.length)
    await untilEmpty([cut, well])
    assert.deepEqual(well.logged('slow no'), [])
  })

  it('tell an item from the one that had its number, and its id, before its stream was deleted', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using app = await QueueApp.start(configOf(nats.port))
    await app.mail.slow.enqueue('before', { id: 'a' })
    await app.untilLogged('slow before begins')
    await managed(nats, async ({ streams }) => void (await streams.delete('busbar_shop_queue_ready')))
    await app.untilLogged('busbar_shop_queue_ready was deleted')
    await app.mail.slow.enqueue('after', { id: 'a' })
    await app.untilLogged('slow after begins')
    await app.mail.release()
    await app.untilLogged('slow after ends')
    await untilEmpty([app])
  })

  it('are missed by check --live and by busbar queue if the user may not write them', async () => {
    const user = 'user: "shop", password: "p"'
    const denied = 'publish: { allow: ">", deny: "busbar.shop.queue.begun.>" }, subscribe: ">"'
    await using nats = await NatsServer.startWithJetStream(
      `authorization: { users: [{ ${user}, permissions: { ${denied} } }] }`,
    )
    await using app = new QueueProcess(configOf(nats.port, quick, 'shop:p@'))
    await app.start()
    const { code, stdout } = await app.checkLive()
    assert.equal(code, 1, stdout)
    const fault = /the queue of the cluster cannot be used: .*Publish to "busbar\.shop\.queue\.begun\./
    assert.match(stdout, fault)
    const listed = await app.queue()
    assert.deepEqual([listed.code, listed.stdout.trim()], [0, 'the queue is empty'])
    assert.match(listed.stderr, fault)
    assert.match(listed.stderr, /Permit the user of the app what the message names/)
  })
})
